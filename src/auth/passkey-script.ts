/**
 * The one script of the pages, served as a file of its own. It shows the passkey buttons in browsers that know passkeys;
 * without it everything else works.
 */
export const passkeyScript = `"use strict";
const place = document.querySelector("[data-passkeys]");
const known = window.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined;
if (place !== null && known) {
  const { passkeys: task, url } = place.dataset;
  const form = document.querySelector("[name=form]").value;
  const [button, alert] = [place.querySelector("button"), place.querySelector("[role=alert]")];
  const post = async (name, fields) => {
    const body = JSON.stringify({ ...fields, form });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url + "/" + name, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.json();
  };
  const ask = {
    register: (options) => navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    }),
    "sign-in": (options) => navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    }),
  }[task];
  place.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    alert.hidden = true;
    try {
      const credential = await ask(await post(task + "-options", {}));
      const { to } = await post(task, { response: credential.toJSON() });
      location.assign(to);
    } catch {
      alert.hidden = false;
      button.disabled = false;
      button.focus();
    }
  });
}
`;
