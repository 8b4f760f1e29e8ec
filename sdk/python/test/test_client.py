import unittest
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from signpost import Client, SignpostError, idempotency_key, items, pages
from signpost.v1 import assistant_service_pb2 as assistant
from signpost.v1 import events_service_pb2 as events
from signpost.v1 import links_service_pb2 as links
from signpost.v1.event_pb2 import Event


class Answers(grpc.GenericRpcHandler):
    """Stands for the service: each call gets the next refusal; calls after the last one get an empty message."""

    def __init__(self, *refusals: tuple[grpc.StatusCode, int | None]) -> None:
        self.refusals = list(refusals)
        self.sent: list[dict[str, str | bytes]] = []

    def service(self, handler_call_details: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(self._answer)

    def _answer(self, request: bytes, context: Any) -> bytes:
        self.sent.append(dict(context.invocation_metadata()))
        if not self.refusals:
            return b""
        code, delay = self.refusals.pop(0)
        if delay is not None:
            detail = AnyMessage()
            detail.Pack(RetryInfo(retry_delay=Duration(seconds=delay)))
            status = Status(code=code.value[0], message="not now", details=[detail])
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(code, "not now")
        raise AssertionError("abort raises")

    def keys(self) -> list[str | bytes | None]:
        return [metadata.get("idempotency-key") for metadata in self.sent]


AWAY = (grpc.StatusCode.UNAVAILABLE, None)


@contextmanager
def serving(answers: Answers, token: str = "secret") -> Iterator[tuple[Client, list[float]]]:
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=1))
    server.add_generic_rpc_handlers((answers,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    waited: list[float] = []
    with Client(f"http://127.0.0.1:{port}", token, wait=waited.append) as client:
        yield client, waited
    server.stop(None)


class Calls(unittest.TestCase):
    def test_a_stream_carries_the_token(self) -> None:
        answers = Answers()
        with serving(answers) as (client, _):
            self.assertEqual(len(list(client.assistant.StreamMessage(assistant.AssistantSendMessageRequest()))), 1)
        self.assertEqual(answers.sent[0]["authorization"], "Bearer secret")

    def test_a_call_carries_the_token(self) -> None:
        answers = Answers()
        with serving(answers) as (client, _):
            client.links.List(links.ListLinksRequest())
        self.assertEqual(answers.sent[0]["authorization"], "Bearer secret")

    def test_a_client_without_a_token_sends_none(self) -> None:
        answers = Answers()
        with serving(answers, "") as (client, _):
            client.links.List(links.ListLinksRequest())
        self.assertNotIn("authorization", answers.sent[0])

    def test_a_writing_call_keeps_its_key_through_its_retries_and_two_calls_have_two(self) -> None:
        answers = Answers(AWAY, AWAY)
        with serving(answers) as (client, _):
            client.links.Create(links.CreateLinkRequest())
            client.links.Create(links.CreateLinkRequest())
        first, second, third, other = answers.keys()
        self.assertTrue(first is not None and first == second == third != other)

    def test_a_call_takes_the_key_it_is_given(self) -> None:
        answers = Answers()
        with serving(answers) as (client, _):
            client.links.Create(links.CreateLinkRequest(), metadata=idempotency_key("order 17"))
        self.assertEqual(answers.keys(), ["order 17"])

    def test_calls_that_read_or_are_idempotent_by_nature_have_no_key(self) -> None:
        answers = Answers()
        with serving(answers) as (client, _):
            client.links.List(links.ListLinksRequest())
            client.links.Delete(links.DeleteLinkRequest())
        self.assertEqual(answers.keys(), [None, None])


class Retries(unittest.TestCase):
    def test_a_used_up_limit_waits_as_long_as_the_service_asks(self) -> None:
        with serving(Answers((grpc.StatusCode.RESOURCE_EXHAUSTED, 3))) as (client, waited):
            client.links.List(links.ListLinksRequest())
        self.assertEqual(len(waited), 1)
        self.assertTrue(3 <= waited[0] <= 3.2)

    def test_what_another_try_would_not_help_fails_at_once(self) -> None:
        exhausted, invalid = grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT
        for refusal in ((exhausted, None), (exhausted, 60), (invalid, None)):
            answers = Answers(refusal)
            with self.subTest(refusal), serving(answers) as (client, _):
                with self.assertRaises(SignpostError) as raised:
                    client.links.List(links.ListLinksRequest())
                self.assertIs(raised.exception.code, refusal[0])
                self.assertEqual(len(answers.sent), 1)

    def test_a_service_that_stays_away_fails_after_four_tries_with_longer_waits_each_time(self) -> None:
        answers = Answers(AWAY, AWAY, AWAY, AWAY)
        with serving(answers) as (client, waited), self.assertRaises(SignpostError) as raised:
            client.links.List(links.ListLinksRequest())
        self.assertIs(raised.exception.code, grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(raised.exception.request_id, answers.sent[0]["x-request-id"])
        self.assertEqual(len(answers.sent), 4)
        for seconds, most in zip(waited, (0.2, 0.4, 0.8), strict=True):
            self.assertTrue(most / 2 <= seconds <= most)

    def test_a_service_that_is_not_there_is_a_typed_error_too(self) -> None:
        with Client("http://127.0.0.1:1", attempts_max=1) as client, self.assertRaises(SignpostError) as raised:
            client.links.List(links.ListLinksRequest())
        self.assertIs(raised.exception.code, grpc.StatusCode.UNAVAILABLE)

    def test_no_try_starts_after_the_calls_time_is_over(self) -> None:
        answers = Answers((grpc.StatusCode.RESOURCE_EXHAUSTED, 20))
        with serving(answers) as (client, _), self.assertRaises(SignpostError):
            client.links.List(links.ListLinksRequest(), timeout=10)
        self.assertEqual(len(answers.sent), 1)


class Paging(unittest.TestCase):
    def test_items_follow_the_cursor_to_the_end_also_where_it_stands_in_the_answers_form(self) -> None:
        asked: list[str] = []

        def call(request: events.ListEventsRequest) -> events.ListEventsResponse:
            asked.append(request.page_token)
            cursor = "" if len(asked) == 3 else f"after {len(asked)}"
            page = events.ListEventsJsonResponse(events=[Event(id=str(len(asked)))], next_page_token=cursor)
            return events.ListEventsResponse(json=page)

        found = [event.id for event in items(call, events.ListEventsRequest(), lambda page: page.json.events)]
        self.assertEqual(found, ["1", "2", "3"])
        self.assertEqual(asked, ["", "after 1", "after 2"])

    def test_paging_stops_calling_when_the_reader_stops(self) -> None:
        calls = 0

        def call(request: links.ListLinksRequest) -> links.ListLinksResponse:
            nonlocal calls
            calls += 1
            return links.ListLinksResponse(next_page_token="more")

        next(pages(call, links.ListLinksRequest()))
        self.assertEqual(calls, 1)


class Addresses(unittest.TestCase):
    def test_an_address_that_grpc_cannot_reach_is_refused(self) -> None:
        for base_url in ("localhost:8080", "ftp://localhost", "https://example.com/api"):
            with self.subTest(base_url), self.assertRaises(ValueError):
                Client(base_url)


if __name__ == "__main__":
    unittest.main()
