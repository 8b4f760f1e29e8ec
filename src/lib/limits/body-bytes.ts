/** The limit of a request in bytes where its method declares none: 8 MiB. */
export const bodyBytesMax = 8 * 1024 * 1024;

/** The limit of an open call, which anybody may make without a token, where its method declares none: 64 KiB. */
export const openBodyBytesMax = 64 * 1024;
