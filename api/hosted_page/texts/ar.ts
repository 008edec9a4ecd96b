import type { Texts } from "./en.ts";

/** Arabic, written from right to left. */
export const ar: Texts = {
  name: "العربية",
  direction: "rtl",
  pageTitle: (shop) => `الدفع إلى ${shop}`,
  payTo: "الدفع إلى",
  switchLanguage: "اللغة",
  test: "صفحة تجريبية: لا ترسل أموالاً حقيقية",
  order: "الطلب",
  providedBy: (reseller) => `خدمة الدفع من ${reseller}`,

  amountToSend: "أرسل بالضبط",
  stillMissing: "المبلغ المتبقي",
  anyAmount: (token) => `أرسل أي مبلغ من ${token}`,
  amountDue: "المبلغ المستحق",
  noRate: (shop, token) => `لا يتوفر سعر صرف الآن: سيخبرك ${shop} بمقدار ${token} الذي عليك إرساله.`,
  rate: (one, fiat) => `${one} = ${fiat}`,
  feesOnTop: "تُضاف رسوم الشبكة فوق المبلغ، وتعرضها محفظتك.",
  network: "الشبكة",
  address: (token, network) => `أرسل ${token} عبر ${network} إلى`,
  qrCode: "رمز QR للعنوان",
  onlyThis: (token, network) => `أرسل ${token} فقط وعبر شبكة ${network} فقط.`,
  otherToken: "أي عملة أخرى تُقيَّد إن كانت مدعومة هنا، وإلا فتُحفظ جانبًا.",
  copy: "نسخ",
  copied: "تم النسخ",
  notCopied: "تعذّر النسخ: يُرجى التحديد يدوياً",
  copyAmount: "نسخ المبلغ",
  copyAddress: "نسخ العنوان",
  openInWallet: "افتح في المحفظة",
  copyTransaction: "نسخ المعاملة",

  timeLeft: "الوقت المتبقي",
  openUntil: (time) => `مفتوحة حتى ${time}`,
  twoMinutesLeft: "تبقّت دقيقتان للدفع",

  steps: { waiting: "بانتظار الدفع", received: "تم الرصد", completed: "اكتمل" },
  progress: "مراحل الدفع",
  waiting: {
    title: "بانتظار دفعتك",
    detail: "أرسلها من محفظتك، وستلاحظها هذه الصفحة تلقائياً.",
  },
  partial: (seen, asked, missing) => ({
    title: "وصل جزء من المبلغ",
    detail: `وصل ${seen} من ${asked}. أرسل المتبقي ${missing} إلى العنوان نفسه.`,
  }),
  received: (seen, usual) => ({
    title: "تم رصد الدفعة",
    detail: `${seen} في الطريق. تؤكدها الشبكة الآن، ويستغرق ذلك ${
      { seconds: "بضع ثوانٍ", minutes: "دقيقة أو دقيقتين", quarter: "نحو 15 دقيقة" }[usual]
    }.`,
  }),
  receivedLate: (seen) => ({
    title: "ستُقيَّد دفعتك",
    detail: `رُصد ${seen} وتؤكده الشبكة الآن. انتهى وقت الصفحة، لكن لا يلزمك فعل أي شيء آخر.`,
  }),
  completed: (credited, shop) => ({
    title: "اكتمل الدفع",
    detail: `استلم ${shop} مبلغ ${credited}. شكراً لك!`,
  }),
  paidTooMuch: (over, shop) => `أرسلت ${over} زيادة عن المطلوب. يُرجى مراجعة ${shop} بشأنها.`,
  unchecked: (seen, due, shop) => ({
    title: "تم استلام الدفعة",
    detail: `وصل ${seen}. سيتحقق ${shop} من أنه يغطي المبلغ المستحق، ${due}.`,
  }),
  failed: (shop) => ({
    title: "لم تنجح الدفعة",
    detail:
      `لم تنفذ الشبكة المعاملة، فلم يُحوَّل أي مبلغ. راجع محفظتك واطلب من ${shop} صفحة دفع جديدة.`,
  }),
  expired: (shop) => ({
    title: "انتهت صلاحية صفحة الدفع هذه",
    detail: `يُرجى عدم إرسال أي شيء إليها بعد الآن. يمكن لـ ${shop} أن يعطيك صفحة جديدة.`,
  }),
  expiredPaid: {
    here: "هل أرسلت الدفعة بالفعل؟ دفعتك آمنة: ستُقيَّد فور تأكيد الشبكة لها، وستعرضها هذه الصفحة.",
    hereIfYouStay:
      "هل أرسلت الدفعة بالفعل؟ دفعتك آمنة: ستُقيَّد فور تأكيد الشبكة لها. إذا بقيت هنا فستعرضها هذه الصفحة.",
    nowhere: "هل أرسلت الدفعة بالفعل؟ دفعتك آمنة: ستُقيَّد فور تأكيد الشبكة لها.",
  },
  short: (seen, asked, missing, shop) => ({
    title: "وصل جزء فقط في الوقت المحدد",
    detail: `وصل ${seen} من ${asked}، والمتبقي ${missing}. يُرجى التواصل مع ${shop}.`,
  }),

  receivedAmount: "المستلَم",
  askedAmount: "المطلوب",
  transaction: "المعاملة",
  returning: (shop) => `جارٍ إعادتك إلى ${shop}…`,
  returnTo: (shop) => `العودة إلى ${shop}`,
  stay: "البقاء هنا",

  connectionLost: {
    title: "انقطع الاتصال، ودفعتك آمنة",
    detail: "ما أرسلته سيصل في كل الأحوال. تتابع هذه الصفحة فور عودة الاتصال.",
  },
  connectionBack: "عاد الاتصال",
  withoutScript: "من دون JavaScript لا تتحدث هذه الصفحة تلقائياً.",
  checkAgain: "تحقق مرة أخرى",

  unknownPage: {
    title: "لا توجد صفحة دفع كهذه",
    detail: "الرابط غير مكتمل أو فيه خطأ. افتحه من جديد من حيث حصلت عليه.",
  },
  tooManyRequests: {
    title: "لحظة من فضلك",
    detail: "فُتحت هذه الصفحة مرات كثيرة. حاول مرة أخرى بعد دقيقة.",
  },
  somethingWrong: {
    title: "لا يمكن عرض الصفحة الآن",
    detail: "دفعتك آمنة: ما أرسلته سيصل في كل الأحوال. حاول مرة أخرى بعد قليل.",
  },
};
