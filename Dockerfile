# The server with its page, as an image that runs as nobody on a read-only root file system.
#   docker build -t text2sql .                      the server
#   docker build -t text2sql-a2a --target a2a .     the A2A agent alone
#   docker build -t text2sql-green --target green . the evaluator of agents
# Everything it writes goes to /data (state, results, uploads, demo databases) and /tmp.

FROM node:20-bookworm-slim AS page
WORKDIR /page
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci
COPY frontend/ ./
RUN npm run build

FROM python:3.11-slim-bookworm AS packages
WORKDIR /source
RUN python -m venv /opt/text2sql
COPY pyproject.toml setup.py constraints.txt README.md LICENSE ./
COPY prompts/ prompts/
COPY eval/ eval/
COPY agent/ agent/
COPY text2sql/ text2sql/
RUN /opt/text2sql/bin/python -m pip install --no-cache-dir --constraint constraints.txt '.[all]'

FROM python:3.11-slim-bookworm AS base
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data text2sql \
    && install --directory --owner=text2sql --group=text2sql --mode=0700 /data
COPY --from=packages /opt/text2sql /opt/text2sql
ENV PATH=/opt/text2sql/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    TEXT2SQL_STATE_DIR=/data/state \
    TEXT2SQL_CACHE_DIR=/data/cache
USER 10001:10001
WORKDIR /data
VOLUME /data
LABEL org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.base.name="docker.io/library/python:3.11-slim-bookworm"

FROM base AS a2a
LABEL org.opencontainers.image.title="text2sql-a2a" \
    org.opencontainers.image.description="Agent that writes SQL for a question and a schema, over A2A and REST"
EXPOSE 9019
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:9019/health', timeout=2)"]
ENTRYPOINT ["python", "-m", "agent.a2a", "--host", "0.0.0.0", "--port", "9019"]

FROM base AS green
LABEL org.opencontainers.image.title="text2sql-green" \
    org.opencontainers.image.description="Evaluator of text-to-SQL agents, over A2A and REST"
EXPOSE 9009
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:9009/health', timeout=2)"]
ENTRYPOINT ["python", "-m", "eval.green_agent", "--host", "0.0.0.0", "--port", "9009"]

FROM base AS server
LABEL org.opencontainers.image.title="text2sql" \
    org.opencontainers.image.description="Ask a database in plain English: server and page"
COPY --from=page /page/dist /opt/text2sql/page
ENV TEXT2SQL_PAGE_DIR=/opt/text2sql/page
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/ready', timeout=2)"]
CMD ["python", "-m", "agent.server", "--host", "0.0.0.0", "--port", "8000"]
