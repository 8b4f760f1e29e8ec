/** The limit of a request in bytes when its method declares no limit: 8 MiB. */
export const bodyBytesMax = 8 * 1024 * 1024;

/** The limit of an open call, which needs no token, in bytes when its method declares no limit: 64 KiB. */
export const openBodyBytesMax = 64 * 1024;
