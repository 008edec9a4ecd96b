"""A shop, whole: `python3 examples/shop.py serve` takes callbacks and books each order that is paid, `... order ID
AMOUNT` sells, `... paid ID` tells whether to ship, `... payout ID AMOUNT ADDRESS` pays out. Its books are a SQLite
file, on disk before a callback is acknowledged, so that a shop that is killed at any moment books each event once.
Settings: PAYMENTS_URL, API_KEY, WEBHOOK_SECRET, BOOKS, SHOP_PORT."""

import base64
import hmac
import http.server
import json
import os
import sqlite3
import sys
import threading
import time
import urllib.request
from decimal import Decimal

REPEATED = "rate_limit_exceeded unavailable withdrawal_unavailable outcome_unknown internal foreign_answer".split()
BOOKED = {"deposit.confirmed": "receivableAmount", "withdrawal.confirmed": "amount", "withdrawal.failed": "amount"}


def call(path, body=None, headers={}):
    """Makes a request that may be repeated; after a lost answer it is sent again, four times in all."""
    data = None if body is None else json.dumps(body).encode()  # without data it is a GET
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(os.environ["PAYMENTS_URL"] + path, data, headers)
    request.add_unredirected_header("Authorization", "Bearer " + os.environ["API_KEY"])
    for attempt, pause in enumerate((0.25, 0.5, 1, 2)):
        try:
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.load(answer)
            except urllib.request.HTTPError as error:
                refusal = json.load(error)
                code = refusal.get("code", "foreign_answer")
                if code == "duplicate_reference":  # a payout that was made before, and is named
                    return refusal
                if attempt == 3 or code not in REPEATED:
                    raise RuntimeError(refusal) from None
                pause = float(error.headers.get("Retry-After", pause))
        except (OSError, http.client.HTTPException, ValueError):  # no answer, or a part of one
            if attempt == 3:
                raise
        time.sleep(pause)


def is_genuine(headers, body, secret):
    """Verifies a callback over its raw bytes, before anything is parsed, in constant time."""
    stamp = headers.get("webhook-timestamp", "")[:12]
    is_new = stamp.isascii() and stamp.isdigit() and abs(time.time() - int(stamp)) <= 300
    signed = f"{headers.get('webhook-id', '')}.{stamp}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256"))
    given = headers.get("webhook-signature", "").encode().split(b" ")  # two in a rotation
    return is_new and any(hmac.compare_digest(one, expected) for one in given)


def books():
    """Opens the books; a commit is on disk."""
    database = sqlite3.connect(os.environ["BOOKS"], timeout=30)
    database.executescript("""PRAGMA synchronous = EXTRA; CREATE TABLE IF NOT EXISTS entry
        (event_id TEXT PRIMARY KEY, kind TEXT, id TEXT, amount TEXT)""")
    return database


def book(*entry):
    """Books an entry once; its amount in the books."""
    with books() as database:
        database.execute("INSERT INTO entry VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", entry)
        return database.execute("SELECT amount FROM entry WHERE event_id = ?", entry[:1]).fetchone()[0]


class Shop(http.server.BaseHTTPRequestHandler):
    """Takes callbacks as POST, shows the books to GET."""
    log_message = lambda *_: None  # nothing is said of each request

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length) if 0 <= length <= 65_536 else b""
        if not is_genuine(self.headers, body, os.environ["WEBHOOK_SECRET"]):
            return self.answer(401, {"ok": False})
        event = json.loads(body)  # its name is in the signed body; the header's is not signed
        kind = f"{event['type']}.{event.get('status')}"
        if kind in BOOKED:  # of a deposit what was credited, not what was sent: fees are taken off
            book(event["eventId"], kind, event["referenceId"], event[BOOKED[kind]])
            threading.Thread(target=book_paid, args=[event["referenceId"]]).start()
        self.answer(200, {"ok": True})

    def do_GET(self):
        rows = books().execute("SELECT * FROM entry ORDER BY rowid").fetchall()
        self.answer(200, [dict(zip(("eventId", "kind", "id", "amount"), row)) for row in rows])


def order(identity, amount):
    """Makes an order's page: the same one while it is open, the next attempt's afterwards."""
    if book(f"price {identity}", "price", identity, amount) != amount:  # the first one stays
        raise RuntimeError("Cannot sell an order at another price")
    body = {"network": "TRX", "identifier": identity, "referenceId": identity}
    body |= {"requestedAmount": amount, "requestedCurrency": "USD"}
    for attempt in range(1, 100):  # a key is kept for a day, its page is open for 15 minutes
        page = call("/api/deposit-url", body, {"Idempotency-Key": f"{identity}:{attempt}"})
        if page["expiresAt"] > time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()):
            book(f"order {identity}", "order", identity, page["payableAmount"])  # KeyError: no rate now
            return page
    raise RuntimeError("Cannot sell as all its pages have expired: is the clock right?")


def is_paid(identity):
    """True once the confirmed deposits of all an order's pages, with fees, are what its first asked for."""
    asked = books().execute("SELECT amount FROM entry WHERE kind = 'order' AND id = ?", [identity]).fetchone()
    query = {"referenceId": identity, "currency": "USDT", "network": "TRX", "status": "CONFIRMED"}
    paid, page, pages = {}, 1, 1 if asked else 0
    while page <= pages:  # by their ids, as new ones move others to the next page
        answer = call("/api/deposits?" + urllib.parse.urlencode({**query, "limit": 100, "page": page}))
        paid |= {one["id"]: Decimal(one["amount"]) for one in answer["deposits"]}
        page, pages = page + 1, answer["pagination"]["pages"]
    return asked is not None and sum(paid.values()) >= Decimal(asked[0])


def payout(identity, amount, destination):
    """Pays out once, however often it is asked for: the id is the reference."""
    body = {"amount": amount, "currency": "USDT", "network": "TRX", "destination": destination}
    return {"withdrawalId": call("/api/withdrawals", {**body, "referenceId": identity})["withdrawalId"]}


def book_paid(*identities):
    """Books which of the orders are paid by now; after a failure the next look is within a minute."""
    for identity in identities:
        if is_paid(identity):
            book(f"paid {identity}", "paid", identity, "")


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["SHOP_PORT"])), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("open", flush=True)
    unpaid = "SELECT id FROM entry WHERE kind = 'order' EXCEPT SELECT id FROM entry WHERE kind = 'paid'"
    while True:  # no callback tells of a payment under 1 USD
        threading.Thread(target=book_paid, args=[row[0] for row in books().execute(unpaid)]).start()
        time.sleep(60)


commands = {"serve": serve, "order": order, "paid": is_paid, "payout": payout}
print(json.dumps(commands[sys.argv[1]](*sys.argv[2:])))
