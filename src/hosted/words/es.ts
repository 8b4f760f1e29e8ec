import type { Words } from "./words.ts";

export const spanish: Words = {
  passwordTitle: "Esta página está protegida",
  password: "Contraseña",
  continue: "Continuar",
  submit: "Enviar",
  skip: "Omitir por ahora",
  optional: "opcional",
  choose: "Elija una opción",
  checkAnswers: "Revise las respuestas marcadas.",
  faults: {
    REQUIRED: "Rellene este campo.",
    EMAIL: "Introduzca un correo electrónico, por ejemplo nombre@example.com.",
    PHONE: "Introduzca un teléfono con el prefijo del país, por ejemplo +34\u00a0912\u00a0345\u00a0678.",
    NUMBER: "Introduzca un número.",
    DATE: "Introduzca una fecha.",
    OPTION: "Elija una de las opciones.",
    RATING: "Elija del 1 al 5.",
    TOO_LONG: "Es demasiado largo. Acórtelo, por favor.",
    PASSWORD: "La contraseña no es correcta. Inténtelo de nuevo.",
  },
  email: "Correo electrónico",
  phone: "Teléfono",
  firstName: "Nombre",
  lastName: "Apellidos",
  website: "Sitio web",
  address: "Dirección",
  saveContact: "Guardar contacto",
  rating: "{rating} de 5",
  goesOn: "Esta página continuará {when}.",
  goOnNow: "Continuar ahora",
  madeWith: "Hecho con {service}",
  notices: {
    NOT_FOUND: { title: "Aquí no hay nada", text: "Revise la dirección o vuelva a escanear el código." },
    NOT_AVAILABLE: {
      title: "No disponible",
      text: "Este enlace no lleva a ninguna parte en este momento. Inténtelo más tarde.",
    },
    EXPIRED: {
      title: "Este enlace ha caducado",
      text: "Ya no lleva a ninguna parte. Pida uno nuevo a quien se lo haya dado.",
    },
    BAD_REQUEST: {
      title: "No ha funcionado",
      text: "No se ha podido leer la dirección. Revísela, por favor.",
    },
    FORBIDDEN: { title: "No ha funcionado", text: "Abra de nuevo el enlace y responda en su página." },
    WRONG_METHOD: {
      title: "No ha funcionado",
      text: "Esta dirección solo se puede abrir, no se le puede enviar nada.",
    },
    TOO_LARGE: { title: "No ha funcionado", text: "La respuesta es demasiado larga. Acórtela, por favor." },
    TOO_MANY_MISSES: {
      title: "Más despacio, por favor",
      text: "Se han pedido demasiadas direcciones desconocidas desde su red. Inténtelo dentro de un minuto.",
    },
    TOO_MANY_TRIES: {
      title: "Demasiados intentos",
      text: "La contraseña ha sido incorrecta demasiadas veces. Podrá intentarlo de nuevo {when}.",
    },
    UNAVAILABLE: {
      title: "Volvemos enseguida",
      text: "Este enlace no se puede consultar ahora mismo. Inténtelo de nuevo.",
    },
    HOME: { title: "Signpost", text: "Aquí se sirven enlaces cortos y códigos QR." },
  },
};
