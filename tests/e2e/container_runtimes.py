# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for Apptainer, Podman and Docker, which no machine is sure to have.

They understand what smtune asks of them, write their words to calls.jsonl, and
run the command without a container. What matters of the real ones is kept: the
process of Apptainer passes each signal on to the command, its child; the
command of Docker is a child of a daemon, has only the variables that it was
given, and outlives the program that asked for it. What tests read of a run,
log(), attempt() and signals(), they read of the real ones' as well.

    python3 container_runtimes.py FOLDER apptainer|docker WORD...   as a program
    python3 container_runtimes.py FOLDER daemon                     its daemon
"""

import ctypes
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading

# Options with a value of their own word, of all programs.
VALUES = {"--pwd", "--mount", "--name", "--cidfile", "--network", "--ipc",
          "--entrypoint", "--workdir", "--env", "--user", "--security-opt",
          "--memory", "--gpus", "--device"}
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1,
             signal.SIGUSR2)


def write_program(folder, name):
    """The stand-in of that name in FOLDER/bin, which the caller puts in PATH."""
    kind = "apptainer" if name in ("apptainer", "singularity") else "docker"
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\nexec {sys.executable} {__file__} {folder} "
                    f"{kind} \"$@\"\n")
    path.chmod(0o755)


def start_daemon(folder):
    """Docker's daemon, which listens when this returns."""
    daemon = subprocess.Popen([sys.executable, __file__, str(folder), "daemon"],
                              stdout=subprocess.PIPE, text=True)
    daemon.stdout.readline()
    return daemon


def calls(folder):
    """The words of each call so far."""
    path = folder / "calls.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def values_of(words, option):
    """All values of an option in the words of a call."""
    return [words[i + 1] for i, word in enumerate(words) if word == option]


def log(smtune, run, job=1):
    return smtune.ok("logs", run, job).splitlines()


def attempt(smtune, run, job=1):
    return smtune.json("show", run, job)["attempts"][-1]


def signals(smtune, step):
    """What the script of its first attempt says of its signals; a shell has
    words of its own for the end of its children."""
    lines = smtune.ok("logs", "flow", step, "--attempt", 1).splitlines()
    return [line for line in lines if line in ("warned", "term")]


def parse(words):
    """({option: [values]}, image, command) of `exec` and `run`."""
    options, at = {}, 1
    while words[at].startswith("-"):
        name, value = words[at], ""
        if name in VALUES:
            at += 1
            value = words[at]
        options.setdefault(name, []).append(value)
        at += 1
    return options, words[at], words[at + 1:]


def end_as(status):
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


def apptainer(words):
    if words[0] == "pull":
        if "no-such" in words[2]:
            sys.exit(f"FATAL:   no image {words[2]}")
        pathlib.Path(words[1]).write_text(words[2])
        return
    options, image, command = parse(words)
    if not os.path.exists(image):
        print(f"FATAL:   no such image {image}", file=sys.stderr)
        sys.exit(255)
    for name, value in list(os.environ.items()):
        if name.startswith("APPTAINERENV_"):
            os.environ[name.removeprefix("APPTAINERENV_")] = value
    os.chdir(options["--pwd"][0])
    child = subprocess.Popen(command)
    ctypes.CDLL(None).prctl(15, b"starter")
    for number in FORWARDED:
        signal.signal(number, lambda number, _: child.send_signal(number))
    end_as(child.wait())


def ask(folder, *request, files=()):
    """The daemon's answer, a number; meanwhile signals go to the container."""
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(folder / "docker.sock"))
        socket.send_fds(link, [json.dumps(request).encode()], files)
        return int(link.recv(16) or b"125")


def docker(folder, words):
    if words[0] == "rm":
        ask(folder, "kill", words[-1], signal.SIGKILL)
        return
    options, image, command = parse(words)
    if "no-such" in image:
        print(f"docker: no such image {image}", file=sys.stderr)
        sys.exit(125)
    name = options.get("--name", [str(os.getpid())])[0]
    if "--cidfile" in options:
        pathlib.Path(options["--cidfile"][0]).write_text("5eed")
    for number in FORWARDED:
        signal.signal(number, lambda number, _: ask(folder, "kill", name,
                                                    number))
    variables = dict(item.split("=", 1) if "=" in item else
                     (item, os.environ[item]) for item in options.get("--env", []))
    sys.exit(ask(folder, "run", name, options["--workdir"][0], variables,
                 command, files=(1, 2)))


def daemon(folder):
    containers = {}

    def serve(link):
        text, files, _, _ = socket.recv_fds(link, 1 << 20, 2)
        verb, name, *rest = json.loads(text)
        if verb == "kill":
            if name in containers:
                containers[name].send_signal(rest[0])
            link.send(b"0")
            return
        where, variables, command = rest
        containers[name] = subprocess.Popen(
            command, cwd=where, stdout=files[0], stderr=files[1],
            env={"PATH": os.environ["PATH"], **variables},
            start_new_session=True)
        for file in files:
            os.close(file)
        status = containers[name].wait()
        try:
            link.send(str(status if status >= 0 else 128 - status).encode())
        except BrokenPipeError:
            pass

    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "docker.sock"))
    server.listen()
    print("listens", flush=True)
    while True:
        link, _ = server.accept()
        threading.Thread(target=serve, args=(link,), daemon=True).start()


def main():
    folder, kind, words = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if kind == "daemon":
        daemon(folder)
    if words == ["--version"]:
        print(f"{kind} version 1.2.3 of the tests")
        return
    with open(folder / "calls.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(words) + "\n")
    if kind == "apptainer":
        apptainer(words)
    else:
        docker(folder, words)


if __name__ == "__main__":
    main()
