"""Health check: exit 0 when the server says that its model is loaded. Starts without site-packages to be cheap."""

import http.client
import os
import sys


def healthy(port: int) -> bool:
    """Whether GET /health answers 200 (llama.cpp answers 503 while it loads)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if healthy(int(os.environ.get("LOCAL_MODEL_PORT", "8080"))) else 1)
