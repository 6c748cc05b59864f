# SPDX-License-Identifier: GPL-3.0-or-later
"""Reverse proxies that show a dashboard below a path.

    with PythonProxy("/you/1", keeps=True) as proxy:
        proxy.ask_at(("127.0.0.1", 8420))    # or the path of a Unix socket
        urlopen(proxy.url + "/")             # http://localhost:PORT/you/1/

keeps: whether the dashboard is asked with the path, or without it.
"""

import contextlib
import os
import shutil
import socket
import socketserver
import subprocess
import threading

from programs import wait_until

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Handler(socketserver.StreamRequestHandler):
    """One request of a connection, as the proxy passes it on."""

    def handle(self):
        line = self.rfile.readline().decode("latin-1").split()
        headers = {}
        while (header := self.rfile.readline()) not in (b"\r\n", b""):
            name, _, value = header.decode("latin-1").partition(":")
            headers[name] = value.strip()
        if line:
            with contextlib.suppress(OSError), self.connect() as server:
                self.ask(server, line, headers)

    def connect(self):
        place = self.server.proxy.place
        if isinstance(place, tuple):
            return socket.create_connection(place)
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(place))
        return server

    def ask(self, server, line, headers):
        proxy = self.server.proxy
        method, target, version = line
        length = int(headers.get("Content-Length", 0))
        if not proxy.keeps:
            target = target.removeprefix(proxy.path)
        headers.update(proxy.adds, Connection="close")
        head = [f"{method} {target} {version}",
                *(f"{name}: {value}" for name, value in headers.items())]
        server.sendall("\r\n".join([*head, "", ""]).encode("latin-1") +
                       self.rfile.read(length))
        while block := server.recv(65536):
            self.request.sendall(block)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


class PythonProxy:
    """adds: headers."""

    def __init__(self, path, keeps, adds):
        self.path, self.keeps, self.adds = path, keeps, adds
        self.place = None
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.proxy = self
        self.url = f"http://localhost:{self.server.server_address[1]}{path}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,),
                         daemon=True).start()
        return self

    def ask_at(self, place):
        self.place = place

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


NGINX_CONFIG = """\
daemon off; master_process off; worker_processes 1;
pid {folder}/nginx.pid; error_log stderr;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location {path}/ {{
      proxy_pass http://{place}{slash};
      proxy_set_header Host $http_host;
    }}
  }}
}}
"""


class NginxProxy:
    """The same by nginx, as docs/dashboard.md sets it up."""

    def __init__(self, path, keeps, folder):
        self.path, self.keeps, self.folder = path, keeps, folder
        self.port = free_port()
        self.url = f"http://localhost:{self.port}{path}"
        self.process = None

    def __enter__(self):
        return self

    def ask_at(self, place):
        config = self.folder / "nginx.conf"
        config.write_text(NGINX_CONFIG.format(
            folder=self.folder, port=self.port,
            # It compares paths that it has decoded.
            path=self.path.replace("%40", "@"),
            place=(f"{place[0]}:{place[1]}" if isinstance(place, tuple) else
                   f"unix:{place}" if self.keeps else f"unix:{place}:"),
            slash="" if self.keeps else "/"))
        self.process = subprocess.Popen(
            [NGINX, "-p", str(self.folder), "-c", str(config)],
            stderr=subprocess.PIPE, text=True)
        wait_until(self.is_there, what="nginx")

    def is_there(self):
        assert self.process.poll() is None, self.process.stderr.read()
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        return False

    def __exit__(self, *_):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)
            self.process.stderr.close()
