"""Content types of a request that are refused. A web page may send these to any server without being asked, so a
server that reads them could be used by a page of another origin. Needs no SDK.
"""

from __future__ import annotations

_OF_WEB_PAGES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")


def from_web_page(content_type: str) -> bool:
    """Whether a request with this Content-Type may come from a web page of any origin."""
    return content_type.partition(";")[0].strip().lower() in _OF_WEB_PAGES
