import type { Texts } from "./en.ts";

export const es: Texts = {
  name: "Español",
  direction: "ltr",
  pageTitle: (shop) => `Pago a ${shop}`,
  payTo: "Pago a",
  switchLanguage: "Idioma",
  test: "Página de prueba: no envíe dinero real",
  order: "Pedido",
  providedBy: (reseller) => `Pagos por ${reseller}`,

  amountToSend: "Envíe exactamente",
  stillMissing: "Falta por enviar",
  anyAmount: (token) => `Envíe cualquier importe en ${token}`,
  amountDue: "Importe a pagar",
  noRate: (shop, token) =>
    `Ahora mismo no hay tipo de cambio: ${shop} le indicará cuántos ${token} debe enviar.`,
  rate: (one, fiat) => `${one} = ${fiat}`,
  feesOnTop: "Las comisiones de red van aparte; su monedero las muestra.",
  network: "Red",
  address: (token, network) => `Envíe ${token} en ${network} a`,
  qrCode: "Código QR de la dirección",
  onlyThis: (token, network) => `Envíe solo ${token} por la red ${network}.`,
  otherToken: "Otra moneda se abona si se admite aquí; si no, queda apartada.",
  copy: "Copiar",
  copied: "Copiado",
  notCopied: "No se ha copiado: selecciónelo a mano",
  copyAmount: "Copiar el importe",
  copyAddress: "Copiar la dirección",
  openInWallet: "Abrir en el monedero",
  copyTransaction: "Copiar la transacción",

  timeLeft: "Tiempo restante",
  openUntil: (time) => `Abierta hasta las ${time}`,
  twoMinutesLeft: "Quedan dos minutos para pagar",

  steps: { waiting: "En espera", received: "Detectado", completed: "Completado" },
  progress: "Progreso del pago",
  waiting: {
    title: "Esperando su pago",
    detail: "Envíelo desde su monedero. Esta página lo detecta por sí sola.",
  },
  partial: (seen, asked, missing) => ({
    title: "Ha llegado una parte",
    detail: `Recibido: ${seen} de ${asked}. Envíe los ${missing} que faltan a la misma dirección.`,
  }),
  received: (seen, usual) => ({
    title: "Pago detectado",
    detail: `${seen} en camino. La red lo está confirmando; tarda ${
      { seconds: "unos segundos", minutes: "uno o dos minutos", quarter: "unos 15 minutos" }[usual]
    }.`,
  }),
  receivedLate: (seen) => ({
    title: "Su pago será acreditado",
    detail:
      `Se han detectado ${seen} y la red los está confirmando. El tiempo de la página ha terminado, pero no tiene que hacer nada más.`,
  }),
  completed: (credited, shop) => ({
    title: "Pago completado",
    detail: `${shop} ha recibido ${credited}. ¡Gracias!`,
  }),
  paidTooMuch: (over, shop) => `Ha enviado ${over} de más. Consúltelo con ${shop}.`,
  unchecked: (seen, due, shop) => ({
    title: "Pago recibido",
    detail: `Han llegado ${seen}. ${shop} comprobará si cubren el importe a pagar, ${due}.`,
  }),
  failed: (shop) => ({
    title: "El pago no se realizó",
    detail:
      `La red no ejecutó la transacción, así que no se ha transferido nada. Revise su monedero y pida a ${shop} una nueva página de pago.`,
  }),
  expired: (shop) => ({
    title: "Esta página de pago ha caducado",
    detail: `No envíe nada más para ella. ${shop} puede darle una nueva.`,
  }),
  expiredPaid: {
    here:
      "¿Ya ha enviado el pago? Está a salvo: se acredita en cuanto la red lo confirme, y esta página lo mostrará.",
    hereIfYouStay:
      "¿Ya ha enviado el pago? Está a salvo: se acredita en cuanto la red lo confirme. Si se queda aquí, esta página lo mostrará.",
    nowhere: "¿Ya ha enviado el pago? Está a salvo: se acredita en cuanto la red lo confirme.",
  },
  short: (seen, asked, missing, shop) => ({
    title: "Solo llegó una parte a tiempo",
    detail: `Recibido: ${seen} de ${asked}; faltan ${missing}. Póngase en contacto con ${shop}.`,
  }),

  receivedAmount: "Recibido",
  askedAmount: "Solicitado",
  transaction: "Transacción",
  returning: (shop) => `Volviendo a ${shop}…`,
  returnTo: (shop) => `Volver a ${shop}`,
  stay: "Quedarme aquí",

  connectionLost: {
    title: "Conexión perdida, su pago está a salvo",
    detail: "Lo que ha enviado llega igualmente. La página continúa en cuanto vuelva la conexión.",
  },
  connectionBack: "Conexión restablecida",
  withoutScript: "Sin JavaScript esta página no se actualiza por sí sola.",
  checkAgain: "Comprobar de nuevo",

  unknownPage: {
    title: "Esta página de pago no existe",
    detail: "El enlace está incompleto o mal escrito. Ábralo de nuevo desde donde lo recibió.",
  },
  tooManyRequests: {
    title: "Un momento, por favor",
    detail: "Esta página se ha abierto demasiadas veces. Inténtelo de nuevo en un minuto.",
  },
  somethingWrong: {
    title: "La página no se puede mostrar ahora",
    detail: "Su pago está a salvo: lo que ha enviado llega igualmente. Inténtelo en un momento.",
  },
};
