/*
 * What the outbox and the senders of one kind, of webhooks or of Slack messages, say to each other. The outbox knows what
 * is sent when, and a sender knows where it goes and how.
 */

/** The key of a subscriber: of a webhook or a Slack integration. */
export interface SubscriberKey {
  readonly workspaceId: string;
  readonly subscriberId: string;
}

/** A message about a completed step, or a test message. */
export interface OutgoingMessage extends SubscriberKey {
  /** The same in every attempt; unique among the messages of its subscriber. */
  readonly id: string;
  /** JSON with `type`, `timestamp` and `data`, as webhooks get it: the same text in every attempt. */
  readonly body: string;
}

/** What became of an attempt. */
export type Outcome = Delivered | Failed;

interface Answered {
  /** The HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** The beginning of the answer's body. The outbox keeps at most `responseMax` characters. */
  readonly response: string;
}

export interface Delivered extends Answered {
  readonly isDelivered: true;
}

export interface Failed extends Answered {
  readonly isDelivered: false;
  /** A sentence for people that says what failed, without values of visitors. */
  readonly reason: string;
  /** The receiver wants no attempt before so many milliseconds have passed. The outbox waits a day at most. */
  readonly retryAfterMs?: number;
  /** Another attempt would fail as well: the message is given up at once, and the subscriber stays. */
  readonly isHopeless?: boolean;
  /** The receiver wants no messages ever again: the subscriber is disabled at once. */
  readonly isFinal?: boolean;
}

/**
 * Makes one attempt. It resolves within the time-out of its kind, whatever the receiver does, and never rejects: what
 * fails is an outcome. The signal asks it to end early because the service stops; what it then returns is not counted.
 */
export type Deliver = (message: OutgoingMessage, signal: AbortSignal) => Promise<Outcome>;

/** How fast the messages of one subscriber may go. */
export interface Pace {
  /** How many attempts are under way at the same time. A subscriber that fails gets fewer. */
  readonly inFlightMax: number;
  /** The least time between the beginnings of two attempts, in milliseconds. */
  readonly intervalMs?: number;
  /** How many messages wait at most; the oldest beyond it are missed. */
  readonly waitingMax?: number;
}

/** Sends the messages of one kind of subscriber. */
export interface Sender {
  readonly pace: Pace;
  /**
   * How messages of these subscribers are delivered now, by `subscriberId`. It is asked again for every few messages, with
   * set-based statements, so that changed addresses and secrets count at once. A subscriber without an entry cannot be
   * sent to, and its messages wait.
   */
  open(subscribers: readonly SubscriberKey[]): Promise<ReadonlyMap<string, Deliver>>;
}

/** How much of an answer is kept, in characters. */
export const responseMax = 1_000;
