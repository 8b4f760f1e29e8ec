/** Names of the fields in which pages send answers. */
export const passwordName = "password";

/** Goes on without answers. */
export const skipName = "skip";

/** The id of the button pressed on a multi-link page. */
export const buttonName = "button";

/** The id of the link pressed on a page of social links. */
export const linkName = "link";

/** The query parameter, not a field, of a message page that was left because its time was over. */
export const timerParameter = "timer";

/** The answer to one question of a form. */
export function formFieldName(fieldId: string): string {
  return `field-${fieldId}`;
}
