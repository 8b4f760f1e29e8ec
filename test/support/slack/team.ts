export interface StandInChannel {
  readonly id: string;
  readonly name: string;
  isMember: boolean;
  readonly isPrivate: boolean;
  isArchived: boolean;
}

/** A team at the stand-in, which every code that begins with its name leads to. */
export interface Team {
  readonly id: string;
  readonly name: string;
  /** The bot's token: the same for everybody who connects the team, until it is revoked. */
  botToken: string;
  channels: StandInChannel[];
  /** Why Slack refuses the token, if it does. */
  refusal: "token_revoked" | "account_inactive" | "invalid_auth" | undefined;
}

/** A team with a channel that the bot is in, one that it is not in, and one of each kind that it cannot post to. */
export function newTeam(name: string, number: number): Team {
  const channel = (letter: string, given: Partial<StandInChannel>): StandInChannel => ({
    id: `C${number}${letter}`,
    name: `channel-${letter.toLowerCase()}`,
    isMember: false,
    isPrivate: false,
    isArchived: false,
    ...given,
  });
  return {
    id: `T${number}`,
    name,
    botToken: `xoxb-${number}-1`,
    refusal: undefined,
    channels: [
      channel("GENERAL", { name: "general", isMember: true }),
      channel("RANDOM", { name: "random" }),
      channel("SECRET", { name: "secret", isPrivate: true }),
      channel("OWNERS", { name: "owners", isPrivate: true, isMember: true }),
      channel("OLD", { name: "old", isArchived: true }),
    ],
  };
}
