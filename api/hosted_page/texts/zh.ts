import type { Texts } from "./en.ts";

/** Chinese, in simplified characters. */
export const zh: Texts = {
  name: "中文",
  direction: "ltr",
  pageTitle: (shop) => `向 ${shop} 付款`,
  payTo: "收款方",
  switchLanguage: "语言",
  test: "测试页面：请勿发送真实资金",
  order: "订单",
  providedBy: (reseller) => `支付服务由 ${reseller} 提供`,

  amountToSend: "请准确发送",
  stillMissing: "还需发送",
  anyAmount: (token) => `请发送任意金额的 ${token}`,
  amountDue: "应付金额",
  noRate: (shop, token) => `目前没有可用的汇率：应发送多少 ${token}，请以 ${shop} 告知的为准。`,
  rate: (one, fiat) => `${one} = ${fiat}`,
  feesOnTop: "网络手续费另计，钱包中会显示。",
  network: "网络",
  address: (token, network) => `通过 ${network} 网络将 ${token} 发送至`,
  qrCode: "地址二维码",
  onlyThis: (token, network) => `只能通过 ${network} 网络发送 ${token}。`,
  otherToken: "其他代币若受支持则会入账，否则会被单独留存。",
  copy: "复制",
  copied: "已复制",
  notCopied: "未能复制，请手动选择",
  copyAmount: "复制金额",
  copyAddress: "复制地址",
  openInWallet: "在钱包中打开",
  copyTransaction: "复制交易哈希",

  timeLeft: "剩余时间",
  openUntil: (time) => `有效期至 ${time}`,
  twoMinutesLeft: "距离付款截止还有两分钟",

  steps: { waiting: "等待付款", received: "已检测到", completed: "已完成" },
  progress: "付款进度",
  waiting: {
    title: "等待您的付款",
    detail: "请从您的钱包付款，本页面会自动检测到账。",
  },
  partial: (seen, asked, missing) => ({
    title: "已收到部分款项",
    detail: `已收到 ${seen}，共需 ${asked}。请将剩余的 ${missing} 发送到同一地址。`,
  }),
  received: (seen, usual) => ({
    title: "已检测到付款",
    detail: `${seen} 正在由网络确认，通常需要${
      { seconds: "几秒钟", minutes: "一到两分钟", quarter: "约15分钟" }[usual]
    }。`,
  }),
  receivedLate: (seen) => ({
    title: "您的付款将会入账",
    detail: `已检测到 ${seen}，网络正在确认。页面时间已到，但您无需再做任何操作。`,
  }),
  completed: (credited, shop) => ({
    title: "付款完成",
    detail: `${shop} 已收到 ${credited}。谢谢！`,
  }),
  paidTooMuch: (over, shop) => `您多付了 ${over}。请就此联系 ${shop}。`,
  unchecked: (seen, due, shop) => ({
    title: "已收到付款",
    detail: `已收到 ${seen}。${shop} 将核对是否足以支付应付金额 ${due}。`,
  }),
  failed: (shop) => ({
    title: "付款未成功",
    detail:
      `网络没有执行该交易，因此没有资金被转移。请检查您的钱包，并向 ${shop} 索取新的付款页面。`,
  }),
  expired: (shop) => ({
    title: "此付款页面已过期",
    detail: `请不要再为此页面付款。${shop} 可以为您提供新的付款页面。`,
  }),
  expiredPaid: {
    here: "已经付款了吗？您的款项是安全的：网络确认后即会入账，本页面也会显示。",
    hereIfYouStay:
      "已经付款了吗？您的款项是安全的：网络确认后即会入账。如果您留在此页，本页面也会显示。",
    nowhere: "已经付款了吗？您的款项是安全的：网络确认后即会入账。",
  },
  short: (seen, asked, missing, shop) => ({
    title: "规定时间内只收到部分款项",
    detail: `已收到 ${seen}，共需 ${asked}，还差 ${missing}。请联系 ${shop}。`,
  }),

  receivedAmount: "已收到",
  askedAmount: "应付金额",
  transaction: "交易",
  returning: (shop) => `正在返回 ${shop}…`,
  returnTo: (shop) => `返回 ${shop}`,
  stay: "留在此页",

  connectionLost: {
    title: "连接已断开，您的付款是安全的",
    detail: "您已发送的款项仍会到账。恢复联网后，本页面会自动继续。",
  },
  connectionBack: "已重新连接",
  withoutScript: "未启用 JavaScript，本页面不会自动更新。",
  checkAgain: "重新检查",

  unknownPage: {
    title: "没有这个付款页面",
    detail: "链接不完整或有误。请从原处重新打开。",
  },
  tooManyRequests: {
    title: "请稍候",
    detail: "此页面打开次数过多，请一分钟后再试。",
  },
  somethingWrong: {
    title: "暂时无法显示此页面",
    detail: "您的付款是安全的：已发送的款项仍会到账。请稍后再试。",
  },
};
