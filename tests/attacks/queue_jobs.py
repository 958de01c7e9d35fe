"""Push jobs into RQ's queues as the Redis user of this container: what whoever has taken it over could do.

Arguments: the user, JSON list of `{"function", "argument", "queue"}`. Prints for each the job's id, or Redis's refusal.
"""

import json
import sys
from pathlib import Path

import redis
from rq import Queue
from rq.serializers import JSONSerializer

user = sys.argv[1]
password = Path(f"/keys/{user}/redis.password").read_text().strip()
connection = redis.Redis("redis", username=user, password=password)


def push(job: dict) -> str:
    """Queue one job."""
    queue = Queue(job["queue"], connection=connection, serializer=JSONSerializer)
    try:
        return str(queue.enqueue_call(job["function"], args=(job["argument"],), timeout=60, result_ttl=0).id)
    except redis.RedisError as exc:
        return f"refused: {exc}"


print(json.dumps([push(job) for job in json.loads(sys.argv[2])]))
