import type { Words } from "./words.ts";

export const japanese: Words = {
  passwordTitle: "このページは保護されています",
  password: "パスワード",
  continue: "続ける",
  submit: "送信",
  skip: "今はスキップ",
  optional: "任意",
  choose: "選択してください",
  checkAnswers: "印の付いた回答をご確認ください。",
  faults: {
    REQUIRED: "入力してください。",
    EMAIL: "メールアドレスを入力してください（例：name@example.com）。",
    PHONE: "国番号を付けた電話番号を入力してください（例：+81\u00a03\u00a01234\u00a05678）。",
    NUMBER: "数値を入力してください。",
    DATE: "日付を入力してください。",
    OPTION: "選択肢から選んでください。",
    RATING: "1 から 5 までで選んでください。",
    TOO_LONG: "長すぎます。短くしてください。",
    PASSWORD: "パスワードが違います。もう一度お試しください。",
  },
  email: "メールアドレス",
  phone: "電話番号",
  firstName: "名",
  lastName: "姓",
  website: "ウェブサイト",
  address: "住所",
  saveContact: "連絡先を保存",
  rating: "5 段階中 {rating}",
  goesOn: "{when}に次へ進みます。",
  goOnNow: "今すぐ進む",
  madeWith: "{service} で作成",
  notices: {
    NOT_FOUND: {
      title: "ページが見つかりません",
      text: "アドレスを確認するか、コードをもう一度読み取ってください。",
    },
    NOT_AVAILABLE: {
      title: "ご利用いただけません",
      text: "このリンクには現在、行き先がありません。しばらくしてからお試しください。",
    },
    EXPIRED: {
      title: "このリンクは有効期限が切れています",
      text: "このリンクはもうどこにもつながりません。リンクの提供元に新しいリンクをお問い合わせください。",
    },
    BAD_REQUEST: { title: "うまくいきませんでした", text: "アドレスを読み取れません。ご確認ください。" },
    FORBIDDEN: {
      title: "うまくいきませんでした",
      text: "リンクをもう一度開き、そのページで回答してください。",
    },
    WRONG_METHOD: {
      title: "うまくいきませんでした",
      text: "このアドレスは開くことだけができ、送信はできません。",
    },
    TOO_LARGE: { title: "うまくいきませんでした", text: "回答が長すぎます。短くしてください。" },
    TOO_MANY_MISSES: {
      title: "少しお待ちください",
      text: "お使いのネットワークから、存在しないアドレスへのアクセスが多すぎます。1 分後にもう一度お試しください。",
    },
    TOO_MANY_TRIES: {
      title: "試行回数が多すぎます",
      text: "パスワードの間違いが続きました。{when}にもう一度お試しください。",
    },
    UNAVAILABLE: {
      title: "まもなく戻ります",
      text: "ただいまこのリンクを確認できません。もう一度お試しください。",
    },
    HOME: { title: "Signpost", text: "短縮リンクと QR コードを提供しています。" },
  },
};
