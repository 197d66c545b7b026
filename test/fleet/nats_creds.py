"""Files of a NATS server whose accounts are JWTs, as `nsc` would make them: nats_creds.py FOLDER.

nats.conf      an operator, the accounts red and blue
NAME.creds     a user: red, blue; limited (of red, may not publish), old (of red, expired), forged (signed by another key)
"""
import base64
import binascii
import json
import os
import subprocess
import sys
import time

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3


def base32(raw):
    """With the checksum of nkeys."""
    raw += binascii.crc_hqx(raw, 0).to_bytes(2, "little")
    return base64.b32encode(raw).decode().rstrip("=")


class Key:
    def __init__(self, kind, folder):
        self.kind, self.file = kind, os.path.join(folder, "key.%d.%s.pem" % (kind, os.urandom(4).hex()))
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.file], check=True)
        self.raw = self.der()[-32:]
        self.public = base32(bytes([kind]) + self.der("-pubout")[-32:])

    def der(self, *flags):
        return subprocess.run(["openssl", "pkey", "-in", self.file, "-outform", "DER", *flags], check=True, stdout=subprocess.PIPE).stdout

    def seed(self):
        return base32(bytes([SEED | self.kind >> 5, (self.kind & 31) << 3]) + self.raw)

    def sign(self, text):
        with open(self.file + ".text", "wb") as f:
            f.write(text)
        return subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", self.file + ".text"],
                              check=True, stdout=subprocess.PIPE).stdout


def base64url(raw):
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def jwt(issuer, subject, name, claims, **more):
    body = {"jti": os.urandom(16).hex(), "iat": int(time.time()) - 60, "iss": issuer.public, "sub": subject.public, "name": name,
            "nats": {**claims, "version": 2}, **more}
    text = ".".join(base64url(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, body))
    return text + "." + base64url(issuer.sign(text.encode()))


def main():
    folder = sys.argv[1]
    operator = Key(OPERATOR, folder)
    limits = {"subs": -1, "conn": -1, "leaf": -1, "imports": -1, "exports": -1, "data": -1, "payload": -1, "wildcards": True}
    accounts = {name: Key(ACCOUNT, folder) for name in ("red", "blue")}
    with open(os.path.join(folder, "nats.conf"), "w") as f:
        f.write("listen: 127.0.0.1:-1\nresolver: MEMORY\noperator: %s\nresolver_preload {\n" %
                jwt(operator, operator, "op", {"type": "operator"}))
        for name, key in accounts.items():
            f.write("  %s: %s\n" % (key.public, jwt(operator, key, name, {"type": "account", "limits": limits})))
        f.write("}\n")
    for name, account, more, signer in (("red", "red", {}, None), ("blue", "blue", {}, None), ("old", "red", {"exp": int(time.time()) - 30}, None),
                                        ("limited", "red", {}, None), ("forged", "red", {}, Key(ACCOUNT, folder))):
        user = Key(USER, folder)
        allowed = {"pub": {"deny": [">"]}} if name == "limited" else {"pub": {}}
        claims = {"type": "user", "sub": {}, "subs": -1, "data": -1, "payload": -1, **allowed}
        token = jwt(signer or accounts[account], user, name, claims, **more)
        with open(os.path.join(folder, name + ".creds"), "w") as f:
            f.write("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"
                    "-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n" % (token, user.seed()))


main()
