"""Facts about the page: it is small, it is whole, and nothing on it leaves the host."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from services import client_of
from starlette.testclient import TestClient

from kingpair.api.http.static import FOLDER

FILES = sorted(FOLDER.iterdir())
# Names of XML's vocabularies look like addresses and are none.
VOCABULARY = "http://www.w3.org/2000/svg"


@pytest.fixture(scope="module")
def client(tables: Path) -> Iterator[TestClient]:
    with client_of(tables) as found:
        yield found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_of_the_page_names_another_host(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace(VOCABULARY, "")
    assert re.findall(r"(?:[a-z]+:)?//(?=[\w[])[^\s'\"]+", re.sub(r"(?m)//\s.*$", "", text)) == []
    assert "@import" not in text


def test_the_browser_is_told_to_load_nothing_from_elsewhere(client: TestClient) -> None:
    for path in ("/", "/docs", "/page/main.js"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert re.findall(r"https?:|\*|unsafe", policy) == []


def test_all_that_the_page_names_is_served(client: TestClient) -> None:
    named = set()
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r'(?:href|src)="(/page/[\w.]+)"', text))
        named |= {f"/page/{name}" for name in re.findall(r"from '\./([\w.]+)'", text)}
    assert {path.name for path in FILES} >= {name.rpartition("/")[2] for name in named}
    for name in named:
        answer = client.get(name)
        assert answer.status_code == 200
        assert answer.content
    used = {name.rpartition("/")[2] for name in named} | {"index.html", "docs.html"}
    assert {path.name for path in FILES} == used


def test_the_page_weighs_less_than_300_kilobytes() -> None:
    assert sum(path.stat().st_size for path in FILES) < 300_000


def test_a_file_that_the_browser_has_is_not_sent_again(client: TestClient) -> None:
    tag = client.get("/page/style.css").headers["etag"]
    answer = client.get("/page/style.css", headers={"If-None-Match": tag})
    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize("name", ["nothing.js", "..%2fcli.py", "%2e%2e", "__init__.py"])
def test_nothing_but_the_page_is_served(client: TestClient, name: str) -> None:
    assert client.get(f"/page/{name}").status_code == 404
