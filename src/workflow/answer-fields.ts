/** Names of the fields in which pages send answers. */
export const passwordName = "password";

/** Skips a form without its answers. */
export const skipName = "skip";

/** The id of the pressed button of a multi-link page. */
export const buttonName = "button";

/** The id of the pressed link of a page of social links. */
export const linkName = "link";

/** A query parameter, not a field: it says that a message page was left because its time was over. */
export const timerParameter = "timer";

/** The name of the field with the answer to one question of a form. */
export function formFieldName(fieldId: string): string {
  return `field-${fieldId}`;
}
