# SPDX-License-Identifier: GPL-3.0-or-later
"""slurmrestd as it is from version 41 of its interface on, in front of
Debian's, which has 38. What it takes and what it says is as SchedMD's own
specification of v0.0.41 has it; 42 to 44 differ in nothing that is used."""

import json
import re

import rest_liar

NEWEST_TRUE = "v0.0.38"


def no_val(number):
    return {"set": number is not None, "infinite": False,
            "number": number or 0}


def is_no_val(value):
    return isinstance(value, dict) and value.keys() == {
        "set", "infinite", "number"} and isinstance(value["number"], int)


def is_list(value):
    return isinstance(value, list) and all(isinstance(it, str) for it in value)


def is_a(kind):
    return lambda value: type(value) is kind


# What is asked of a job: of which type, and how Debian's is told.
ASKS = {
    **dict.fromkeys((
        "name", "comment", "current_working_directory", "standard_output",
        "partition", "account", "qos", "constraints", "reservation", "array",
        "dependency"), (is_a(str), lambda key, it: {key: it})),
    **dict.fromkeys(("tasks", "cpus_per_task"),
                    (is_a(int), lambda key, it: {key: it})),
    **dict.fromkeys(("memory_per_node", "time_limit"),
                    (is_no_val, lambda key, it: {key: it["number"]})),
    "environment": (is_list, lambda key, it: {
        key: dict(pair.split("=", 1) for pair in it)}),
    "requeue": (is_a(bool), lambda key, it: {} if it else {
        "no_requeue": True}),
    "open_mode": (is_list, lambda key, it: {key: it[0].lower()}),
    "nodes": (is_a(str), lambda key, it: {key: int(it)}),
    "tres_per_node": (is_a(str), lambda key, it: {
        "gres": it.removeprefix("gres/")}),
    "excluded_nodes": (is_list, lambda key, it: {
        "exclude_nodes": ",".join(it)}),
    "flags": (lambda it: it == ["KILL_INVALID_DEPENDENCY"],
              lambda key, it: {"kill_on_invalid_dependency": True}),
}


def refusal(text):
    return rest_liar.json_answer(400, {"errors": [{
        "description": text, "error_number": 9200, "error": text,
        "source": "data_parser"}], "warnings": []})


def to_exit(status):
    """{status, return_code, signal} of a wait status."""
    signal = status & 0x7f
    return {"status": ["SIGNALED" if signal else
                       "ERROR" if status else "SUCCESS"],
            "return_code": no_val(None if signal else status >> 8),
            "signal": {"id": no_val(signal or None), "name": ""}}


def to_job(job):
    return {**job, "job_state": [job["job_state"]],
            "array_job_id": no_val(job["array_job_id"]),
            "array_task_id": no_val(job["array_task_id"]),
            "exit_code": to_exit(job["exit_code"] or 0),
            **{key: no_val(job[key]) for key in ("start_time", "end_time")}}


def to_ended(job):
    """Of the accounting."""
    code = job["exit_code"]
    return {**job, "state": {**job["state"],
                             "current": [job["state"]["current"]]},
            "array": {**job["array"],
                      "task_id": no_val(job["array"]["task_id"])},
            "exit_code": {
                "status": [code["status"]],
                "return_code": no_val(code["return_code"]),
                "signal": {"id": no_val(code.get("signal", {}).get(
                    "signal_id")), "name": ""}}}


def to_partition(row):
    return {"name": row["name"], "partition": {"state": [row["state"]]},
            "defaults": {"time": no_val(row["default_time_limit"])},
            "maximums": {"time": no_val(row["max_time_limit"])},
            "qos": {"allowed": "", "deny": "", "assigned": row["qos"]}}


CHANGES = {("slurm", "jobs"): to_job, ("slurmdb", "jobs"): to_ended,
           ("slurm", "partitions"): to_partition}


class Later(rest_liar.Liar):
    """Later("http://127.0.0.1:1234", 41): at its own `url`."""

    def __init__(self, url, version):
        self.version = f"v0.0.{version}"
        super().__init__(url, {})

    def ask(self, method, path, headers, body):
        if path == "/openapi/v3":
            return rest_liar.json_answer(200, {"paths": {
                f"/slurm/{self.version}/{name}": {} for name in
                ("jobs/", "job/submit", "nodes/", "partitions/")}})
        match = re.fullmatch(f"/(slurm|slurmdb)/{self.version}/(.*)", path)
        if not match:
            return rest_liar.json_answer(404, {})
        part, rest = match.groups()

        def pass_on(rest, body=None):
            return super(Later, self).ask(
                method, f"/{part}/{NEWEST_TRUE}/{rest}", headers,
                json.dumps(body).encode() if body else None)
        if method == "POST":
            return self.submit(json.loads(body), pass_on)
        if method == "DELETE":
            return self.cancel(json.loads(body), pass_on)
        return self.translated(part, pass_on(rest.rstrip("/")))

    def submit(self, body, pass_on):
        job = {}
        for key, value in body["job"].items():
            if key not in ASKS or not ASKS[key][0](value):
                return refusal(f"{key}: {value!r}")
            job.update(ASKS[key][1](key, value))
        return pass_on("job/submit", {"script": body["script"], "job": job})

    def cancel(self, body, pass_on):
        signal = body.get("signal")
        if not is_list(body["jobs"]) or not isinstance(signal, (str, type(
                None))) or (signal and body["flags"] != ["BATCH_JOB"]):
            return refusal(f"{body!r}")
        lines = []
        for job in body["jobs"]:
            answer = pass_on(f"job/{job}" + (f"?signal={signal}" if signal
                                             else ""))
            errors = json.loads(answer.body)["errors"]
            code = errors[0].get("error_number") or errors[0].get(
                "error_code") or -1 if errors else 0
            lines.append({"job_id": no_val(int(job.split("_")[0])),
                          "step_id": job, "error": {
                              "code": code, "message": "",
                              "string": errors[0].get("error", "")
                              if errors else "No error"}})
        return rest_liar.json_answer(200, {"status": lines, "errors": [],
                                           "warnings": []})

    def translated(self, part, answer):
        try:
            body = json.loads(answer.body)
        except ValueError:
            return answer
        for key in body.keys() & {"jobs", "partitions"}:
            body[key] = [CHANGES[part, key](row) for row in body[key]]
        if "Slurm" in body.get("meta", {}):
            body["meta"]["slurm"] = body["meta"].pop("Slurm")
        return rest_liar.json_answer(answer.status, body)
