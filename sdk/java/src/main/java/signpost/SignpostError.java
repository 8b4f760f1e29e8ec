package signpost;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Why a call failed, whether the service refused it or could not be reached: {@code catch (StatusRuntimeException e) {
 * SignpostError error = SignpostError.of(e); }}.
 *
 * @param code the class of the error
 * @param reason the precise cause, such as {@code SHORTLINK_TAKEN}, or the code's name if the service gave no
 *     reason
 * @param message the message for people
 * @param fieldViolations every refused field
 * @param metadata facts about the reason, such as the missing scope
 * @param retryDelay the wait that the service asks for before another try
 * @param requestId finds the call in the service's log
 */
public record SignpostError(
    Status.Code code,
    String reason,
    String message,
    List<FieldViolation> fieldViolations,
    Map<String, String> metadata,
    Optional<Duration> retryDelay,
    String requestId) {

  /** One refused field: its path in JSON names ({@code links[3].destination}) and how to mend it. */
  public record FieldViolation(String field, String description) {}

  /** Reads the exception of a stub or of a future. Any exception that is not from gRPC has the code UNKNOWN. */
  public static SignpostError of(Throwable thrown) {
    Metadata trailers = Status.trailersFromThrowable(thrown);
    return of(Status.fromThrowable(thrown), trailers == null ? new Metadata() : trailers);
  }

  static SignpostError of(Status status, Metadata trailers) {
    List<Any> details = detailsOf(status, trailers);
    Optional<ErrorInfo> info = find(details, ErrorInfo.class);
    String requestId = trailers.get(CallHeaders.REQUEST_ID);
    return new SignpostError(
        status.getCode(),
        info.map(ErrorInfo::getReason).orElse(status.getCode().name()),
        status.getDescription() == null ? "" : status.getDescription(),
        find(details, BadRequest.class).map(SignpostError::violationsOf).orElse(List.of()),
        info.map(ErrorInfo::getMetadataMap).orElse(Map.of()),
        find(details, RetryInfo.class).map(RetryInfo::getRetryDelay).map(SignpostError::durationOf),
        requestId == null ? "" : requestId);
  }

  // Unreadable details are ignored: code and message remain.
  private static List<Any> detailsOf(Status status, Metadata trailers) {
    try {
      return StatusProto.fromStatusAndTrailers(status, trailers).getDetailsList();
    } catch (RuntimeException unreadable) {
      return List.of();
    }
  }

  private static <T extends Message> Optional<T> find(List<Any> details, Class<T> kind) {
    for (Any detail : details) {
      try {
        if (detail.is(kind)) {
          return Optional.of(detail.unpack(kind));
        }
      } catch (InvalidProtocolBufferException unreadable) {
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  private static List<FieldViolation> violationsOf(BadRequest bad) {
    return bad.getFieldViolationsList().stream()
        .map(violation -> new FieldViolation(violation.getField(), violation.getDescription()))
        .toList();
  }

  private static Duration durationOf(com.google.protobuf.Duration duration) {
    return Duration.ofSeconds(duration.getSeconds(), duration.getNanos());
  }
}
