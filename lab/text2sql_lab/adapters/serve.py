"""A minimal OpenAI-compatible server on 127.0.0.1: a base model and its adapters, each under its own name.

In: a base, adapters by name. Out: `GET /v1/models` and `POST /v1/chat/completions`, one reply at a time, not streamed,
with `response_format` ignored. It is for trying adapters and for `gate` where no vLLM is at hand; it is slow.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from eval.errors import InputError, Text2SQLError
from text2sql_lab.adapters.packages import need

BASE = "base"
"""The name of the base."""
MOST_BYTES = 4_000_000
MOST_TEMPERATURE = 10.0
_PATIENCE_SECONDS = 60
"""How long a client may take to send a request."""
_OWN_HOSTS = ("127.0.0.1", "localhost")


class _Refused(Text2SQLError):
    """A request that cannot be answered, as status 400."""


class LocalModel:
    """A base, as `load_base` gives it, with adapters in this process. Raises InputError for what is no adapter."""

    def __init__(self, base: tuple[Any, Any], adapters: Mapping[str, Path], *, reply_tokens: int = 512) -> None:
        need("peft")
        from peft import PeftModel

        self.model, self.tokenizer = base
        self.names = (BASE, *adapters)
        self.reply_tokens = reply_tokens
        self._lock = threading.Lock()
        for number, (name, folder) in enumerate(adapters.items()):
            try:
                if number:
                    self.model.load_adapter(str(folder), adapter_name=name)
                else:
                    self.model = PeftModel.from_pretrained(self.model, str(folder), adapter_name=name)
            except (OSError, ValueError, RuntimeError) as error:
                raise InputError(f"{folder} is no adapter of this base: {str(error).splitlines()[0]}") from None
        self.model.eval()

    def reply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The completion for a request. Raises _Refused."""
        name, messages = body.get("model"), body.get("messages")
        if name not in self.names:
            raise _Refused(f"There is no model {name!r}; there are {', '.join(self.names)}.")
        if body.get("stream"):
            raise _Refused("stream is not supported.")
        if not isinstance(messages, list) or not all(
            isinstance(m, dict) and isinstance(m.get("role"), str) and isinstance(m.get("content"), str)
            for m in messages
        ):
            raise _Refused("messages must be a list of {role, content}, both texts.")
        asked = body.get("max_completion_tokens") or body.get("max_tokens") or self.reply_tokens
        temperature = body.get("temperature") or 0.0
        if not isinstance(asked, int) or asked < 1:
            raise _Refused("max_tokens must be a whole number from 1 on.")
        if not isinstance(temperature, int | float) or not 0 <= temperature <= MOST_TEMPERATURE:
            raise _Refused(f"temperature must be a number from 0 to {MOST_TEMPERATURE:g}.")
        with self._lock:
            text, read, written, ended = self._generated(name, messages, min(asked, self.reply_tokens), temperature)
        return {
            "id": "local",
            "object": "chat.completion",
            "created": 0,
            "model": name,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop" if ended else "length",
                }
            ],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        }

    def _generated(
        self, name: str, messages: list[dict[str, str]], most: int, temperature: float
    ) -> tuple[str, int, int, bool]:
        """Text, tokens read, tokens written, whether it ended by itself."""
        import torch

        ids = self.tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        ).to(self.model.device)
        read = int(ids["input_ids"].shape[1])
        context = getattr(self.model.config, "max_position_embeddings", None)
        if context and read + most > context:
            raise _Refused(f"The context length is {context:,} tokens; the prompt has {read:,} and the reply {most:,}.")
        how = {"do_sample": True, "temperature": temperature} if temperature > 0 else {"do_sample": False}
        if name != BASE:
            self.model.set_adapter(name)
        alone = name == BASE and len(self.names) > 1
        with torch.inference_mode(), self.model.disable_adapter() if alone else nullcontext():
            out = self.model.generate(**ids, max_new_tokens=most, pad_token_id=self.tokenizer.pad_token_id, **how)
        new = out[0][read:].tolist()
        ends = self.model.generation_config.eos_token_id
        ended = bool(new) and new[-1] in (ends if isinstance(ends, list) else [ends])
        return self.tokenizer.decode(new, skip_special_tokens=True), read, len(new), ended


def served(model: LocalModel, port: int = 0) -> ThreadingHTTPServer:
    """A server on 127.0.0.1, not yet running; port 0 takes a free one. Raises InputError."""

    class Handler(BaseHTTPRequestHandler):
        timeout = _PATIENCE_SECONDS

        def do_GET(self) -> None:
            if not self._is_own():
                return self._send(403, _error("This server is for programs of this machine."))
            known = {"object": "list", "data": [{"id": name, "object": "model"} for name in model.names]}
            if self.path != "/v1/models":
                return self._send(404, _error("There is no such path."))
            return self._send(200, known)

        def do_POST(self) -> None:
            if not self._is_own() or self.headers.get_content_type() != "application/json":
                return self._send(403, _error("This server is for programs of this machine that send JSON."))
            if self.path != "/v1/chat/completions":
                return self._send(404, _error("There is no such path."))
            try:
                length = int(self.headers.get("Content-Length") or 0)
                if not 0 < length <= MOST_BYTES:
                    raise _Refused(f"The body must have 1 to {MOST_BYTES:,} bytes.")
                body = json.loads(self.rfile.read(length))
                if not isinstance(body, dict):
                    raise _Refused("The body must be a JSON object.")
                return self._send(200, model.reply(body))
            except (_Refused, ValueError, RecursionError) as error:
                return self._send(400, _error(str(error)))
            except Exception as error:  # noqa: BLE001 (of a template or a tensor that the request does not fit)
                return self._send(400, _error(f"This cannot be answered ({type(error).__name__})."))

        def _is_own(self) -> bool:
            """Whether a program of this machine asks: a page of another origin sends that, or a name of its own."""
            host = (self.headers.get("Host") or "").partition(":")[0]
            return host in _OWN_HOSTS and "Origin" not in self.headers

        def _send(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name of the base class)
            """Requests are not logged."""

    try:
        return ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise InputError(f"Port {port} cannot be used: {error.strerror}.") from None


@contextmanager
def serving(model: LocalModel) -> Iterator[str]:
    """Run the server in a thread; its base URL."""
    server = served(model)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error"}}
