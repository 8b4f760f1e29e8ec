/** How long the operator can restore a deleted workspace, in milliseconds. Then its rows and files are deleted. */
export const restorableMs = 30 * 24 * 60 * 60 * 1000;
