"""A shop, whole, with Python's standard library alone.

`python3 examples/shop.py serve` takes callbacks, `... order ID AMOUNT` sells,
`... payout ID AMOUNT ADDRESS` pays out. Its books are a SQLite file: the id of an event and what it
means are booked in one transaction before the callback is acknowledged, so that a shop that is killed
at any moment books each event once. Settings: PAYMENTS_URL, API_KEY, WEBHOOK_SECRET, BOOKS, PORT.
"""

import base64
import hashlib
import hmac
import http.client
import json
import os
import sqlite3
import sys
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
LONGEST_BODY = 65_536
NOTHING_DONE = {"rate_limit_exceeded", "unavailable", "withdrawal_unavailable"}
REPEATED = NOTHING_DONE | {"outcome_unknown", "internal", "foreign_answer"}


class Refused(Exception):
    """An answer that is an error; compare its code."""

    def __init__(self, body):
        super().__init__(body.get("error"))
        self.code = body.get("code", "foreign_answer")
        self.body = body


def call(path, body, headers):
    """Makes a request that may be repeated; after a lost answer it is sent again, four times in all."""
    keys = {"Authorization": "Bearer " + os.environ["API_KEY"], "Content-Type": "application/json"}
    address = os.environ["PAYMENTS_URL"] + path
    request = urllib.request.Request(address, json.dumps(body).encode(), {**keys, **headers})
    for attempt in range(4):
        pause = 0.25 * 2**attempt
        try:
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                is_ours = error.headers.get_content_type() == "application/json"
                refused = Refused(json.load(error) if is_ours else {"error": f"HTTP {error.code}"})
                if attempt == 3 or refused.code not in REPEATED:
                    raise refused from None
                after = error.headers.get("Retry-After", "")
                pause = int(after) if after.isdigit() else pause
        except (OSError, http.client.HTTPException, ValueError):  # no answer, or a part of one
            if attempt == 3:
                raise
        time.sleep(pause)


def is_genuine(headers, body, secret):
    """Verifies a callback over its raw bytes, before anything is parsed, in constant time."""
    stamp = headers.get("webhook-timestamp", "")
    if not stamp.isascii() or not stamp.isdigit() or abs(time.time() - int(stamp)) > TOLERANCE_SECONDS:
        return False
    hexed = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    # Standard Webhooks signs the time as well, so that no delivery can be replayed later
    signed = f"{headers.get('webhook-id', '')}.{stamp}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # while the secret is rotated there is a signature by the old one beside each
    hexes = [headers.get(name, "") for name in ("X-Webhook-Signature", "X-Webhook-Signature-Previous")]
    return any(hmac.compare_digest(one.encode(), hexed.encode()) for one in hexes) and any(
        hmac.compare_digest(one.encode(), expected.encode())
        for one in headers.get("webhook-signature", "").split(" ")
    )


def books():
    """Opens the books; a commit is on disk."""
    database = sqlite3.connect(os.environ["BOOKS"], timeout=30)
    database.execute("PRAGMA synchronous = FULL")
    database.execute(
        "CREATE TABLE IF NOT EXISTS entry (event_id TEXT PRIMARY KEY, kind TEXT, id TEXT, amount TEXT)"
    )
    return database


def book(event):
    """Books what an event means, once. Its name is in the signed body; the header's is not signed."""
    kind = f"{event['type']}.{event.get('status')}"
    # of a deposit what was credited, not what was sent: fees are taken off
    amount = event.get("receivableAmount") if kind == "deposit.confirmed" else event.get("amount")
    if kind in ("deposit.confirmed", "withdrawal.confirmed", "withdrawal.failed"):
        with books() as database:
            database.execute(
                "INSERT INTO entry VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (event["eventId"], kind, event["referenceId"], amount),
            )


class Shop(BaseHTTPRequestHandler):
    """Callbacks on /callbacks, the books on /books."""

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        if not 0 <= length <= LONGEST_BODY:
            return self.answer(413, {"ok": False})
        body = self.rfile.read(length)
        if not is_genuine(self.headers, body, os.environ["WEBHOOK_SECRET"]):
            return self.answer(401, {"ok": False})
        book(json.loads(body))
        self.answer(200, {"ok": True})

    def do_GET(self):
        rows = books().execute("SELECT event_id, kind, id, amount FROM entry").fetchall()
        self.answer(200, [dict(zip(("eventId", "kind", "id", "amount"), row)) for row in rows])

    def log_message(self, *_):
        """Says nothing of each request."""


def main(command, identity="", amount="", destination=""):
    if command == "serve":
        books().close()
        server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop)
        print("open", flush=True)
        return server.serve_forever()
    if command == "order":  # the order's id is the key: asked again, it is the same page
        quote = {"requestedAmount": amount, "requestedCurrency": "USD"}
        page = {"network": "TRX", "identifier": identity, "referenceId": identity, **quote}
        return call("/api/deposit-url", page, {"Idempotency-Key": identity})
    pay = {"amount": amount, "currency": "USDT", "network": "TRX", "destination": destination}
    try:  # paid once, however often it is asked for: the id is the reference
        return call("/api/withdrawals", {**pay, "referenceId": identity}, {})
    except Refused as refused:
        if refused.code != "duplicate_reference":
            raise
        return {"withdrawalId": refused.body["withdrawalId"]}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
