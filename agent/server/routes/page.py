"""The built page at `/`: its files, and its client-side routes, which all return index.html.

In: a folder that a build has written. Out: responses. Starlette's StaticFiles finds the file of a request, never
outside of the folder. Files under assets/ have their content's hash in their names and are cached for a year;
everything else is revalidated on each request.
"""

from __future__ import annotations

import mimetypes
import stat
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette._utils import get_route_path
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.server.errors import ApiError
from agent.server.middleware.addresses import PLACES

INDEX = "index.html"
_FOREVER = "public, max-age=31536000, immutable"
_NEVER = "no-cache"
_HERE = Path(__file__).resolve()

_NO_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>text2sql</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><h1>text2sql</h1>
<p>The server is running, but its page has not been built. <code>make page</code> builds it; then load this again.</p>
<p>Programs can use the server as it is:</p>
<ul><li><a href="/openapi.json">the API, described</a> (OpenAPI)</li>
<li><a href="/health">/health</a>, <a href="/ready">/ready</a></li>
<li><a href="/presets">/presets</a>: the databases that can be asked</li>
<li><code>POST /query</code> with <code>{"question": "..."}</code>: an answer as server-sent events</li></ul>
</body></html>
"""


def page_folder(configured: str | None) -> Path:
    """The folder of the built page: as configured, inside the package, or beside it in a checkout."""
    if configured:
        return Path(configured)
    package = _HERE.parents[1]
    inside = package / "page"
    return inside if inside.is_dir() else _HERE.parents[3] / "frontend" / "dist"


def page_routes(folder: Path, below: str = "") -> tuple[APIRouter, ASGIApp]:
    """The page's own routes, and the fallback for paths without a route: a file of the build, or 404. `below`: the path
    under which a proxy serves the page (`/ask`)."""
    router = APIRouter(include_in_schema=False)
    page = StaticFiles(directory=folder, check_dir=False)

    def file(name: str) -> str | None:
        try:
            path, found = page.lookup_path(name)
        except (OSError, ValueError):  # too long a name, or signs that no name has
            return None
        return path if found and stat.S_ISREG(found.st_mode) else None

    def index(status: int = 200) -> Response:
        path, headers = file(INDEX), {"Cache-Control": _NEVER}
        if path is None:
            return HTMLResponse(_NO_PAGE, status_code=status, headers=headers)
        text = Path(path).read_text(encoding="utf-8")
        text = text.replace('="./', f'="{below}/')  # its files, from any of its addresses
        said = f'<meta name="base" content="{below}" />'
        return HTMLResponse(text.replace("<meta ", f"{said}<meta ", 1), status_code=status, headers=headers)

    async def otherwise(scope: Scope, receive: Receive, send: Send) -> None:
        name = get_route_path(scope).lstrip("/")
        reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        path = file(name) if reads else None
        in_browser = reads and any(key == b"accept" and b"text/html" in value for key, value in scope["headers"])
        if path is None and in_browser:  # somebody typed or followed an address
            await index(404)(scope, receive, send)
            return
        if path is None:
            raise ApiError(404, "There is nothing at this address.")
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        cached = _FOREVER if name.startswith("assets/") else _NEVER
        await FileResponse(path, media_type=kind, headers={"Cache-Control": cached})(scope, receive, send)

    for route in PLACES:
        router.add_api_route(route, lambda: index(), methods=["GET", "HEAD"])
    return router, otherwise
