"""The page and the documentation: files of ours, and nothing from anywhere else.

A strict content security policy sees to it that no request can leave the host.
"""

from hashlib import blake2b
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, Response

from kingpair.api.http.ranges import matches

router = APIRouter(include_in_schema=False)
FOLDER = Path(__file__).resolve().parent / "page"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
FILES = {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.suffix in KINDS}


@router.get("/")
async def page(request: Request) -> Response:
    return _served(request, "index.html")


@router.get("/docs")
async def docs(request: Request) -> Response:
    return _served(request, "docs.html")


@router.get("/openapi.json")
async def description(request: Request) -> Response:
    return JSONResponse(request.app.openapi())


@router.get("/page/{name}")
async def file(request: Request, name: str) -> Response:
    if name not in FILES:
        raise HTTPException(404, "the page has no file of that name; its address is /")
    return _served(request, name)


def _served(request: Request, name: str) -> Response:
    data = FILES[name]
    tag = f'"{blake2b(data, digest_size=12).hexdigest()}"'
    headers = HEADERS | {"ETag": tag}
    if matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=KINDS[Path(name).suffix])
