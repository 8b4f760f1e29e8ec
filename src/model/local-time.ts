/** A moment as clocks and calendars of a time zone show it. */
export interface LocalTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
  /** 0 for Sunday to 6 for Saturday. */
  readonly weekday: number;
  /** Minutes since midnight on the clock, 0 to 1,439. */
  readonly minutes: number;
}

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** The last minute that was asked for, since the epoch, and what the clock showed then. */
  minute: number;
  time: LocalTime;
}

const minuteMs = 60_000;
const zones = new Map<string, Zone>();

/** Twice the number of zones. Each spelling of a zone is another key. */
const zonesMax = 1_000;

/**
 * The local time of a zone, by its IANA name, with daylight saving time. UTC for a zone that does not exist. Each zone
 * keeps its formatter, which costs 30 µs to make, and its last answer.
 */
export function localTime(at: Date, timezone: string): LocalTime {
  const zone = zones.get(timezone) ?? newZone(timezone);
  const minute = Math.floor(at.getTime() / minuteMs);
  if (zone.minute !== minute) {
    zone.time = read(zone.format, at);
    zone.minute = minute;
  }
  return zone.time;
}

/** How many days a month has, which is the number of its last day. */
export function daysInMonth(year: number, month: number): number {
  // Date.UTC takes years below 100 for those of the twentieth century. Leap years repeat every 400 years.
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

function newZone(timezone: string): Zone {
  const zone: Zone = { format: formatOf(timezone), minute: Number.NaN, time: midnight };
  if (zones.size >= zonesMax) zones.clear();
  zones.set(timezone, zone);
  return zone;
}

const midnight: LocalTime = { year: 1970, month: 1, day: 1, weekday: 4, minutes: 0 };

function formatOf(timezone: string): Intl.DateTimeFormat {
  const options = {
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    weekday: "short",
    hour: "numeric",
    minute: "numeric",
  } as const;
  try {
    return new Intl.DateTimeFormat("en", { ...options, timeZone: timezone });
  } catch {
    return new Intl.DateTimeFormat("en", { ...options, timeZone: "UTC" });
  }
}

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function read(format: Intl.DateTimeFormat, at: Date): LocalTime {
  let year = 0;
  let month = 0;
  let day = 0;
  let weekday = 0;
  let hour = 0;
  let minute = 0;
  for (const { type, value } of format.formatToParts(at)) {
    if (type === "year") year = Number(value);
    else if (type === "month") month = Number(value);
    else if (type === "day") day = Number(value);
    else if (type === "weekday") weekday = weekdays.indexOf(value);
    else if (type === "hour") hour = Number(value);
    else if (type === "minute") minute = Number(value);
  }
  return { year, month, day, weekday, minutes: hour * 60 + minute };
}
