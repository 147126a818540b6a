# SPDX-License-Identifier: Apache-2.0
"""Clients that only PyPI has, or has newer: aiohttp, httpx, and the latest requests, urllib3 and h11."""
import json
import subprocess

import pytest
from harness.fixtures import module_server
from harness.venvs import environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

server = module_server(threads=4)

# Each prints one JSON object; {url} is the server's.
AIOHTTP = '''
import asyncio, json, sys
import aiohttp

async def main(url):
    out = {}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=4)) as session:
        async def number(n):
            async with session.get(f"{url}/q?n={n}") as response:
                return await response.text()
        out["numbers"] = await asyncio.gather(*(number(n) for n in range(300)))

        async def pieces():
            for _ in range(50):
                yield b"p" * 2000
        async with session.post(url + "/echo", data=pieces()) as response:
            out["chunked"] = len(await response.read())
        form = aiohttp.FormData()
        form.add_field("file", b"f" * 300000, filename="f")
        async with session.post(url + "/digest", data=form) as response:
            out["form"] = (await response.json(content_type=None))["size"]
        async with session.post(url + "/echo", data=b"e" * 500000, expect100=True) as response:
            out["expect"] = len(await response.read())
        async with session.get(url + "/stream?n=100&size=1000") as response:
            out["stream"] = sum([len(chunk) async for chunk in response.content.iter_chunked(777)])
        async with session.head(url + "/bytes?n=1234") as response:
            out["head"] = response.headers["Content-Length"]
    print(json.dumps(out))

asyncio.run(main(sys.argv[1]))
'''

HTTPX = '''
import asyncio, json, sys
import httpx

url = sys.argv[1]
out = {}
with httpx.Client(trust_env=False) as client:
    out["echo"] = client.post(url + "/echo", content=b"x" * 300000).content == b"x" * 300000
    out["chunked"] = len(client.post(url + "/echo", content=(b"p" * 2000 for _ in range(50))).content)
    out["form"] = client.post(url + "/digest", files={"file": b"f" * 300000}).json()["size"]
    with client.stream("GET", url + "/stream?n=100&size=1000") as response:
        out["stream"] = sum(len(part) for part in response.iter_bytes())
    out["head"] = client.head(url + "/bytes?n=1234").headers["content-length"]
    out["status"] = client.get(url + "/status?s=204%20No%20Content").status_code

async def main():
    async with httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_connections=4)) as client:
        return [answer.text for answer in await asyncio.gather(*(client.get(f"{url}/q?n={n}") for n in range(300)))]

out["numbers"] = asyncio.run(main())
print(json.dumps(out))
'''

REQUESTS = '''
import json, sys
import requests

url = sys.argv[1]
out = {}
with requests.Session() as session:
    session.trust_env = False
    out["numbers"] = [session.get(f"{url}/q?n={n}").text for n in range(300)]
    manager = session.get_adapter(url).poolmanager
    out["connections"] = sum(manager.pools[key].num_connections for key in manager.pools.keys())
    out["chunked"] = len(session.post(url + "/echo", data=(b"p" * 2000 for _ in range(50))).content)
    out["form"] = session.post(url + "/digest", files={"file": b"f" * 300000}).json()["size"]
    with session.get(url + "/stream?n=100&size=1000", stream=True) as response:
        out["stream"] = sum(len(part) for part in response.iter_content(777))
    out["head"] = session.head(url + "/bytes?n=1234").headers["content-length"]
print(json.dumps(out))
'''


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    return environment(tmp_path_factory, "clients", "aiohttp", "httpx", "requests", "urllib3", "h11")


def client(venv, server, program):
    done = subprocess.run([venv / "bin" / "python", "-c", program, server.url], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out.pop("numbers") == [str(n) for n in range(300)]
    assert out.pop("form") > 300_000
    return out


def test_aiohttp_is_served(venv, server):
    assert client(venv, server, AIOHTTP) == {"chunked": 100_000, "expect": 500_000, "stream": 100_000, "head": "1234"}


def test_httpx_is_served_sync_and_async(venv, server):
    assert client(venv, server, HTTPX) == {"echo": True, "chunked": 100_000, "stream": 100_000, "head": "1234", "status": 204}


def test_the_latest_requests_keeps_one_connection(venv, server):
    assert client(venv, server, REQUESTS) == {"connections": 1, "chunked": 100_000, "stream": 100_000, "head": "1234"}
