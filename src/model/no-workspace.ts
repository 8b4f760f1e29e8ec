/** Stands for no workspace. Rows that belong to no workspace are kept under it, because keys begin with a workspace. */
export const noWorkspace = "00000000-0000-0000-0000-000000000000";
