import type { Words } from "./words.ts";

export const polish: Words = {
  passwordTitle: "Ta strona jest chroniona",
  password: "Hasło",
  continue: "Dalej",
  submit: "Wyślij",
  skip: "Pomiń na razie",
  optional: "opcjonalnie",
  choose: "Wybierz",
  checkAnswers: "Sprawdź zaznaczone odpowiedzi.",
  faults: {
    REQUIRED: "Wypełnij to pole.",
    EMAIL: "Podaj adres e-mail, na przykład imie@example.com.",
    PHONE: "Podaj numer telefonu z kodem kraju, na przykład +48\u00a022\u00a0123\u00a045\u00a067.",
    NUMBER: "Podaj liczbę.",
    DATE: "Podaj datę.",
    OPTION: "Wybierz jedną z opcji.",
    RATING: "Wybierz od 1 do 5.",
    TOO_LONG: "To za długie. Skróć, proszę.",
    PASSWORD: "Hasło jest nieprawidłowe. Spróbuj ponownie.",
  },
  email: "E-mail",
  phone: "Telefon",
  firstName: "Imię",
  lastName: "Nazwisko",
  website: "Strona internetowa",
  address: "Adres",
  saveContact: "Zapisz kontakt",
  rating: "{rating} z 5",
  goesOn: "Ciąg dalszy {when}.",
  goOnNow: "Przejdź teraz",
  notices: {
    NOT_FOUND: { title: "Nic tu nie ma", text: "Sprawdź adres albo zeskanuj kod ponownie." },
    NOT_AVAILABLE: {
      title: "Niedostępne",
      text: "Ten link chwilowo donikąd nie prowadzi. Spróbuj później.",
    },
    EXPIRED: {
      title: "Ten link wygasł",
      text: "Donikąd już nie prowadzi. Poproś o nowy tam, skąd go masz.",
    },
    BAD_REQUEST: { title: "Nie udało się", text: "Nie można odczytać adresu. Sprawdź go." },
    FORBIDDEN: { title: "Nie udało się", text: "Otwórz link ponownie i odpowiedz na jego stronie." },
    WRONG_METHOD: {
      title: "Nie udało się",
      text: "Ten adres można tylko otworzyć, nie można do niego nic wysłać.",
    },
    TOO_LARGE: { title: "Nie udało się", text: "Odpowiedź jest za długa. Skróć ją, proszę." },
    TOO_MANY_MISSES: {
      title: "Nieco wolniej",
      text: "Z Twojej sieci zapytano o zbyt wiele nieznanych adresów. Spróbuj ponownie za minutę.",
    },
    TOO_MANY_TRIES: {
      title: "Zbyt wiele prób",
      text: "Hasło było nieprawidłowe zbyt wiele razy. Możesz spróbować ponownie {when}.",
    },
    UNAVAILABLE: {
      title: "Zaraz wracamy",
      text: "Nie można teraz odnaleźć tego linku. Spróbuj ponownie.",
    },
    HOME: { title: "Signpost", text: "Tu działają krótkie linki i kody QR." },
  },
};
