"""HTTP with the standard library: whole answers within a time and a size, and no redirects."""

import http.client
import io
import time
import urllib.error
import urllib.request
from typing import NamedTuple

ANSWER_BYTES_MAX = 67108864


class Answer(NamedTuple):
    status: int
    headers: dict
    data: bytes


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A signed payment must go only where it was meant to go."""

    def redirect_request(self, *args):
        return None


class TimedReader(io.RawIOBase):
    """What arrives on a socket until its timeout has passed as a whole: a timeout of Python begins anew with each byte."""

    def __init__(self, sock):
        super().__init__()
        limit = sock.gettimeout()
        self._sock, self._raw = sock, sock.makefile("rb", buffering=0)
        self._end = None if limit is None else time.monotonic() + limit

    def readable(self):
        return True

    def readinto(self, buffer):
        if self._end is not None:
            left = self._end - time.monotonic()
            if left <= 0:
                raise TimeoutError("the answer took too long")
            self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self):
        self._raw.close()
        super().close()


class TimedResponse(http.client.HTTPResponse):
    def __init__(self, sock, *args, **named):
        super().__init__(sock, *args, **named)
        self.fp.close()
        self.fp = io.BufferedReader(TimedReader(sock))


class TimedHttp(http.client.HTTPConnection):
    response_class = TimedResponse


class TimedHttps(http.client.HTTPSConnection):
    response_class = TimedResponse


class HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, request):
        return self.do_open(TimedHttp, request)


class HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, request):
        return self.do_open(TimedHttps, request, context=self._context)


OPENER = urllib.request.build_opener(NoRedirects, HttpHandler, HttpsHandler)


def http_get(url, headers, timeout, body=None):
    """The whole answer, whatever its status, to a GET, or to a POST of a body; raises OSError or HTTPException for none."""
    posted = {} if body is None else {"content-type": "application/json"}
    request = urllib.request.Request(url, data=body, headers=dict(headers, **posted))
    try:
        return whole_answer(request, timeout)
    except ValueError as error:
        # Of a header that Python cannot read, such as the address of a redirect: a payment may have been sent.
        raise http.client.HTTPException("a header that is not readable: %s" % error) from error


def whole_answer(request, timeout):
    try:
        response = OPENER.open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        data = response.read(ANSWER_BYTES_MAX + 1)
        if len(data) > ANSWER_BYTES_MAX:
            raise http.client.HTTPException("longer than %d bytes" % ANSWER_BYTES_MAX)
        length = response.headers.get("content-length")
        if length is not None and int(length) != len(data):
            raise http.client.IncompleteRead(data)
        return Answer(response.status, {name.lower(): text for name, text in response.headers.items()}, data)
