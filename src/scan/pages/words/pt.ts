import type { Words } from "./words.ts";

export const portuguese: Words = {
  passwordTitle: "Esta página está protegida",
  password: "Senha",
  continue: "Continuar",
  submit: "Enviar",
  skip: "Pular por agora",
  optional: "opcional",
  choose: "Escolha uma opção",
  checkAnswers: "Confira as respostas marcadas.",
  faults: {
    REQUIRED: "Preencha este campo.",
    EMAIL: "Informe um e-mail, por exemplo nome@example.com.",
    PHONE: "Informe um telefone com o código do país, por exemplo +55\u00a011\u00a02345-6789.",
    NUMBER: "Informe um número.",
    DATE: "Informe uma data.",
    OPTION: "Escolha uma das opções.",
    RATING: "Escolha de 1 a 5.",
    TOO_LONG: "O texto é longo demais. Encurte-o, por favor.",
    PASSWORD: "A senha não está correta. Tente de novo.",
  },
  email: "E-mail",
  phone: "Telefone",
  firstName: "Nome",
  lastName: "Sobrenome",
  website: "Site",
  address: "Endereço",
  saveContact: "Salvar contato",
  rating: "{rating} de 5",
  goesOn: "Esta página continua {when}.",
  goOnNow: "Continuar agora",
  notices: {
    NOT_FOUND: { title: "Não há nada aqui", text: "Confira o endereço ou leia o código de novo." },
    NOT_AVAILABLE: {
      title: "Indisponível",
      text: "Este link não leva a lugar nenhum no momento. Tente mais tarde.",
    },
    EXPIRED: {
      title: "Este link expirou",
      text: "Ele não leva mais a lugar nenhum. Peça um novo a quem o enviou.",
    },
    BAD_REQUEST: { title: "Não funcionou", text: "Não foi possível ler o endereço. Confira-o, por favor." },
    FORBIDDEN: { title: "Não funcionou", text: "Abra o link de novo e responda na página dele." },
    WRONG_METHOD: {
      title: "Não funcionou",
      text: "Este endereço só pode ser aberto, nada pode ser enviado a ele.",
    },
    TOO_LARGE: { title: "Não funcionou", text: "A resposta é longa demais. Encurte-a, por favor." },
    TOO_MANY_MISSES: {
      title: "Mais devagar, por favor",
      text: "Foram pedidos endereços desconhecidos demais a partir da sua rede. Tente de novo em um minuto.",
    },
    TOO_MANY_TRIES: {
      title: "Tentativas demais",
      text: "A senha esteve errada vezes demais. Você poderá tentar de novo {when}.",
    },
    UNAVAILABLE: {
      title: "Voltamos já",
      text: "Não é possível consultar este link agora. Tente de novo.",
    },
    HOME: { title: "Signpost", text: "Aqui são servidos links curtos e códigos QR." },
  },
};
