"""Protocol Buffers messages as Python values, by a small table of fields; what is not in it is an error."""


class Bad(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Bad("a number goes on past the end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def decode(data, fields):
    """fields: {number: (name, kind)}; kind: "uint", "int", "string", "packed", or the fields of a message. A name that
    ends in * is repeated: a list."""
    out = {name[:-1]: [] for name, kind in fields.values() if name.endswith("*")}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number not in fields:
            raise Bad("field %d is not known" % number)
        name, kind = fields[number]
        if wire == 0:
            if kind not in ("uint", "int"):
                raise Bad("%s is a number" % name)
            value, at = varint(data, at)
            if kind == "int":
                value = signed(value)
        elif wire == 2:
            size, at = varint(data, at)
            if size > len(data) - at:
                raise Bad("%s goes on past the end" % name)
            piece, at = data[at:at + size], at + size
            if kind == "string":
                value = piece.decode("utf-8")
            elif kind == "packed":
                value = packed(piece)
            elif isinstance(kind, dict):
                value = decode(piece, kind)
            else:
                raise Bad("%s is no number" % name)
        else:
            raise Bad("wire type %d" % wire)
        if name.endswith("*"):
            out[name[:-1]].append(value)
        else:
            out[name] = value
    return out
