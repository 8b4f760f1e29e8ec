import type { Compared, QuotaLimit } from "../../model/mail.ts";
import { compare, counter, type Words } from "./words.ts";

const count = counter("es");

const limits: Readonly<Record<QuotaLimit, string>> = {
  ASSISTANT_MESSAGES_PER_MINUTE: "mensajes al asistente por minuto",
  CUSTOM_DOMAINS: "dominios propios",
  LINKS_INCLUDED: "enlaces",
  PLATFORM_CREDITS: "créditos",
  PUBLIC_API_CALLS: "llamadas a la API",
  TEAM_MEMBERS: "miembros",
  TRACKED_VISITS: "visitas registradas",
  WEBHOOKS: "webhooks",
};

function than(compared: Compared, period: "week" | "month"): string {
  const before = period === "week" ? "la semana anterior" : "el mes anterior";
  const change = compare(compared);
  if (change === "same") return `igual que ${before}`;
  const difference =
    "more" in change ? count(change.more, "más", "más") : count(change.fewer, "menos", "menos");
  return `${difference} que ${before}`;
}

export const spanish: Words = {
  greeting: (name) => (name === "" ? "Hola:" : `Hola, ${name}:`),
  footer: (workspace, service) =>
    `Recibe este mensaje porque su dirección está registrada en el espacio de trabajo «${workspace}» en Signpost, en ${service}.`,
  letters: {
    invitation: ({ workspace, link, days }) => ({
      subject: `Invitación a «${workspace}»`,
      paragraphs: [
        `Le han invitado a trabajar en el espacio de trabajo «${workspace}». Elija una contraseña para aceptar la invitación.`,
      ],
      action: { label: "Aceptar la invitación", url: link },
      notes: [
        `El enlace es válido durante ${count(days, "día", "días")}.`,
        "Si no esperaba la invitación, puede ignorar este mensaje.",
      ],
    }),
    "sign-up": ({ workspace, link, days }) => ({
      subject: `Complete su registro en «${workspace}»`,
      paragraphs: [
        `Su espacio de trabajo «${workspace}» está listo. Elija una contraseña para confirmar su dirección e iniciar sesión.`,
      ],
      action: { label: "Elegir una contraseña", url: link },
      notes: [
        `El enlace es válido durante ${count(days, "día", "días")}.`,
        "Si no se ha registrado, puede ignorar este mensaje: el espacio de trabajo se eliminará.",
      ],
    }),
    "email-confirmation": ({ workspace, link, days }) => ({
      subject: "Confirme su dirección de correo",
      paragraphs: [
        `Confirme que esta dirección es suya. Con ella inicia sesión en el espacio de trabajo «${workspace}».`,
      ],
      action: { label: "Confirmar la dirección", url: link },
      notes: [
        `El enlace es válido durante ${count(days, "día", "días")}.`,
        "Si la dirección se introdujo sin su conocimiento, puede ignorar este mensaje.",
      ],
    }),
    "email-changed": ({ workspace, newEmail }) => ({
      subject: "Su dirección de correo ha cambiado",
      paragraphs: [
        `A partir de ahora inicia sesión en el espacio de trabajo «${workspace}» con ${newEmail}. Esta dirección ya no tiene cuenta.`,
      ],
      notes: ["Si no lo quería, avise de inmediato a un administrador del espacio de trabajo."],
    }),
    "sign-in-code": ({ code, minutes }) => ({
      subject: "Su código de acceso",
      paragraphs: ["Introduzca este código para iniciar sesión:"],
      code,
      notes: [
        `El código sirve una sola vez, durante ${count(minutes, "minuto", "minutos")}.`,
        "Si no está iniciando sesión, alguien conoce su contraseña: cámbiela.",
      ],
    }),
    "password-reset": ({ link, minutes }) => ({
      subject: "Elija una contraseña nueva",
      paragraphs: ["Alguien ha pedido una contraseña nueva para su cuenta."],
      action: { label: "Elegir una contraseña nueva", url: link },
      notes: [
        `El enlace sirve una sola vez, durante ${count(minutes, "minuto", "minutos")}.`,
        "Si no ha sido usted, puede ignorar este mensaje: su contraseña sigue igual.",
      ],
    }),
    quota: ({ workspace, limit, percent, used, allowed }) => ({
      subject:
        percent === 100 ? `Límite alcanzado: ${limits[limit]}` : `Usado el ${percent} %: ${limits[limit]}`,
      paragraphs: [
        `El espacio de trabajo «${workspace}» ha usado ${used} de ${allowed} que incluye su plan (${limits[limit]}).`,
        percent === 100
          ? "No se incluye nada más hasta que el límite suba o empiece de nuevo. Los enlaces cortos siguen funcionando."
          : "Los enlaces cortos siguen funcionando cuando se alcanza el límite.",
      ],
      notes: [],
    }),
    digest: ({ workspace, period, firstDay, lastDay, visits, links, visitors, mostVisited }) => ({
      subject: `Su ${period === "week" ? "semana" : "mes"} en «${workspace}»: ${count(visits.now, "visita", "visitas")}`,
      paragraphs: [
        `Esto ocurrió del ${firstDay} al ${lastDay}:`,
        `Sus enlaces tuvieron ${count(visits.now, "visita", "visitas")}, ${than(visits, period)}.`,
        `Se crearon ${count(links.now, "enlace", "enlaces")}, ${than(links, period)}.`,
        `Llegaron ${count(visitors.now, "visitante nuevo", "visitantes nuevos")}, ${than(visitors, period)}.`,
      ],
      ...(mostVisited.length > 0 && {
        list: {
          title: "Los enlaces más visitados",
          items: mostVisited.map((link) => `${link.name}: ${count(link.visits, "visita", "visitas")}`),
        },
      }),
      notes: [
        "Los administradores eligen en los ajustes del espacio de trabajo con qué frecuencia llega este mensaje.",
      ],
    }),
    "webhook-disabled": ({ workspace, url, reason }) => ({
      subject: "Se ha desactivado un webhook",
      paragraphs: [`El espacio de trabajo «${workspace}» ya no envía nada a ${url}: ${reason}`],
      notes: ["Repare el receptor y vuelva a activar el webhook."],
    }),
    "domain-away": ({ workspace, domain, fault, servedUntil }) => ({
      subject: `${domain} ya no lleva a Signpost`,
      paragraphs: [
        `Los servidores de nombres de ${domain}, un dominio propio del espacio de trabajo «${workspace}», llevan a los visitantes a otro lugar: ${fault}`,
        `Hasta el ${servedUntil}, los enlaces del dominio siguen funcionando para quienes aún los alcancen. Después no se sirve nada en él.`,
      ],
      notes: ["Corrija los registros DNS, o elimine el dominio si ya no lo usa."],
    }),
    "workspace-deleted": ({ workspace, restorableUntil }) => ({
      subject: `Se ha eliminado el espacio de trabajo «${workspace}»`,
      paragraphs: [
        `Se ha eliminado el espacio de trabajo «${workspace}». Sus enlaces y claves ya no funcionan.`,
        `Hasta el ${restorableUntil}, el operador del servicio puede restaurarlo. Después, todo su contenido se pierde para siempre.`,
      ],
      notes: [],
    }),
  },
};
