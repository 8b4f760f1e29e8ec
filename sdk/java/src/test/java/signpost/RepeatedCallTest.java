package signpost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import signpost.v1.CreateLinkRequest;
import signpost.v1.CreateLinkResponse;
import signpost.v1.Link;
import signpost.v1.LinksServiceGrpc;
import signpost.v1.LinksServiceGrpc.LinksServiceBlockingStub;
import signpost.v1.ListLinksRequest;
import signpost.v1.ListLinksResponse;

/** A server in the same process that fails as scripted and then answers. */
class RepeatedCallTest {
  private final Queue<StatusRuntimeException> failures = new ConcurrentLinkedQueue<>();
  private final List<Metadata> asked = new CopyOnWriteArrayList<>();
  private final CountDownLatch failed = new CountDownLatch(1);
  private final Timer timer = new Timer();
  private Server server;
  private ManagedChannel connection;
  private Channel channel;
  private LinksServiceBlockingStub links;

  @BeforeEach
  void start() throws Exception {
    String name = InProcessServerBuilder.generateName();
    server =
        InProcessServerBuilder.forName(name)
            .addService(ServerInterceptors.intercept(new Links(), new KeepHeaders()))
            .build()
            .start();
    connection = InProcessChannelBuilder.forName(name).build();
    RepeatedCalls repeated = new RepeatedCalls(new RetryPolicy(3, Duration.ofSeconds(20)), timer);
    channel = ClientInterceptors.interceptForward(connection, new CallHeaders("secret"), repeated);
    links = LinksServiceGrpc.newBlockingStub(channel);
  }

  @AfterEach
  void stop() {
    connection.shutdownNow();
    server.shutdownNow();
    timer.close();
  }

  @Test
  void aWriteThatIsMadeAgainCarriesTheSameKeyAndTheToken() {
    failures.add(failure(Code.UNAVAILABLE));
    failures.add(failure(Code.UNAVAILABLE));
    assertEquals("created", links.create(CreateLinkRequest.getDefaultInstance()).getLink().getId());
    List<String> keys = asked.stream().map(headers -> headers.get(CallHeaders.IDEMPOTENCY_KEY)).toList();
    assertEquals(3, keys.size());
    assertNotNull(keys.get(0));
    assertEquals(1, keys.stream().distinct().count());
    assertEquals("Bearer secret", asked.get(2).get(CallHeaders.AUTHORIZATION));
  }

  @Test
  void twoWritesHaveTwoKeysReadsHaveNoneAndAGivenKeyStays() {
    links.create(CreateLinkRequest.getDefaultInstance());
    links.create(CreateLinkRequest.getDefaultInstance());
    links.list(ListLinksRequest.getDefaultInstance());
    links.withOption(Client.IDEMPOTENCY_KEY, "mine").create(CreateLinkRequest.getDefaultInstance());
    assertNotEquals(asked.get(0).get(CallHeaders.IDEMPOTENCY_KEY), asked.get(1).get(CallHeaders.IDEMPOTENCY_KEY));
    assertNull(asked.get(2).get(CallHeaders.IDEMPOTENCY_KEY));
    assertEquals("mine", asked.get(3).get(CallHeaders.IDEMPOTENCY_KEY));
  }

  @Test
  void refusesAKeyThatWouldNotArriveAsItIs() {
    LinksServiceBlockingStub stub = links.withOption(Client.IDEMPOTENCY_KEY, "menü");
    assertThrows(IllegalArgumentException.class, () -> stub.create(CreateLinkRequest.getDefaultInstance()));
    assertTrue(asked.isEmpty());
  }

  @Test
  void waitsAsLongAsARateLimitAsks() {
    RetryInfo retry =
        RetryInfo.newBuilder().setRetryDelay(com.google.protobuf.Duration.newBuilder().setNanos(300_000_000)).build();
    failures.add(failure(Code.RESOURCE_EXHAUSTED, Any.pack(retry)));
    long start = System.nanoTime();
    links.list(ListLinksRequest.getDefaultInstance());
    assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(300));
    assertEquals(2, asked.size());
  }

  @Test
  void givesUpAfterTheLastAttemptWithTheIdThatEveryAttemptHad() {
    for (int attempt = 1; attempt <= 3; attempt++) {
      failures.add(failure(Code.UNAVAILABLE));
    }
    SignpostError error = errorOfList();
    assertEquals(Code.UNAVAILABLE, error.code());
    assertEquals("UNAVAILABLE", error.reason());
    List<String> ids = asked.stream().map(headers -> headers.get(CallHeaders.REQUEST_ID)).toList();
    assertEquals(List.of(error.requestId(), error.requestId(), error.requestId()), ids);
  }

  @Test
  void doesNotWaitBeyondTheCallersDeadline() {
    failures.add(failure(Code.UNAVAILABLE));
    links = links.withDeadlineAfter(50, TimeUnit.MILLISECONDS);
    Code code = errorOfList().code();
    assertTrue(code == Code.UNAVAILABLE || code == Code.DEADLINE_EXCEEDED, code.name());
    assertTrue(asked.size() <= 1);
  }

  @Test
  void aRefusalIsAnsweredAtOnceWithEverythingThatIsKnown() {
    BadRequest.FieldViolation violation =
        BadRequest.FieldViolation.newBuilder().setField("destination").setDescription("is no URL").build();
    ErrorInfo info = ErrorInfo.newBuilder().setReason("INVALID_DESTINATION").putMetadata("limit", "1").build();
    Any bad = Any.pack(BadRequest.newBuilder().addFieldViolations(violation).build());
    failures.add(failure(Code.INVALID_ARGUMENT, Any.pack(info), bad));
    SignpostError error = errorOfList();
    assertEquals(Code.INVALID_ARGUMENT, error.code());
    assertEquals("INVALID_DESTINATION", error.reason());
    assertEquals("1", error.metadata().get("limit"));
    assertEquals(List.of(new SignpostError.FieldViolation("destination", "is no URL")), error.fieldViolations());
    assertEquals(1, asked.size());
  }

  @Test
  void aCallThatIsCancelledBetweenAttemptsEndsAndIsNotMadeAgain() throws Exception {
    RetryInfo retry =
        RetryInfo.newBuilder().setRetryDelay(com.google.protobuf.Duration.newBuilder().setSeconds(15)).build();
    failures.add(failure(Code.RESOURCE_EXHAUSTED, Any.pack(retry)));
    ListenableFuture<ListLinksResponse> future =
        LinksServiceGrpc.newFutureStub(channel).list(ListLinksRequest.getDefaultInstance());
    assertTrue(failed.await(10, TimeUnit.SECONDS));
    assertTrue(future.cancel(true));
    assertEquals(1, asked.size());
  }

  private SignpostError errorOfList() {
    StatusRuntimeException thrown =
        assertThrows(StatusRuntimeException.class, () -> links.list(ListLinksRequest.getDefaultInstance()));
    return SignpostError.of(thrown);
  }

  private static StatusRuntimeException failure(Code code, Any... details) {
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder().setCode(code.value()).addAllDetails(List.of(details)).build());
  }

  private final class Links extends LinksServiceGrpc.LinksServiceImplBase {
    @Override
    public void create(CreateLinkRequest request, StreamObserver<CreateLinkResponse> answer) {
      answer(CreateLinkResponse.newBuilder().setLink(Link.newBuilder().setId("created")).build(), answer);
    }

    @Override
    public void list(ListLinksRequest request, StreamObserver<ListLinksResponse> answer) {
      answer(ListLinksResponse.getDefaultInstance(), answer);
    }

    private <S> void answer(S message, StreamObserver<S> answer) {
      StatusRuntimeException failure = failures.poll();
      if (failure == null) {
        answer.onNext(message);
        answer.onCompleted();
        return;
      }
      answer.onError(failure);
      failed.countDown();
    }
  }

  private final class KeepHeaders implements ServerInterceptor {
    @Override
    public <Q, S> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, S> call, Metadata headers, ServerCallHandler<Q, S> next) {
      asked.add(headers);
      return next.startCall(call, headers);
    }
  }
}
