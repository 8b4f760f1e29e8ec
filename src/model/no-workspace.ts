/** Stands for no workspace: what belongs to none is kept under it, because keys begin with a workspace. */
export const noWorkspace = "00000000-0000-0000-0000-000000000000";
