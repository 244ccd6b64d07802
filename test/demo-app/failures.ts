import { at, gem, internal, worker, type Frame } from "./backtrace";

/** A way in which one of the tasks fails, and how often it was tried before it was given up. */
export interface Failure {
  readonly taskClass: string;
  readonly attempts: number;
  /** Null for a class without a name. */
  readonly exceptionClass: string | null;
  readonly message: string;
  readonly frames: readonly Frame[];
  readonly requestPath: string | null;
}

const email = "app/tasks/send_welcome_email.rb";

export const smtpTimeout: Failure = {
  taskClass: "SendWelcomeEmail",
  attempts: 21,
  exceptionClass: "Net::OpenTimeout",
  message: "Failed to open TCP connection to smtp.example.com:587 (execution expired)",
  requestPath: "/signup",
  frames: [
    gem("net-protocol-0.2.2/lib/net/protocol.rb", 46, "Net::SMTP#tcp_socket"),
    gem("net-smtp-0.5.0/lib/net/smtp.rb", 663, "Net::SMTP#do_start"),
    gem("net-smtp-0.5.0/lib/net/smtp.rb", 601, "Net::SMTP.start"),
    at("lib/mailer.rb", "Net::SMTP.start(HOST", "Mailer.deliver"),
    at(email, "Mailer.deliver(", "SendWelcomeEmail#perform"),
    ...worker,
  ],
};

export const nobodyThere: Failure = {
  ...smtpTimeout,
  attempts: 4,
  exceptionClass: "NoMethodError",
  message: "undefined method 'first_name' for nil",
  frames: [
    at(email, "user.first_name.capitalize", "SendWelcomeEmail#body"),
    at(email, "body: body(user)", "SendWelcomeEmail#perform"),
    ...worker,
  ],
};

export const unknownLocale: Failure = {
  ...smtpTimeout,
  attempts: 6,
  exceptionClass: "KeyError",
  message: 'key not found: "de"',
  frames: [
    at(email, "SUBJECTS.fetch(locale)", "Hash#fetch"),
    at(email, "SUBJECTS.fetch(locale)", "SendWelcomeEmail#subject"),
    at(email, "subject: subject(locale)", "SendWelcomeEmail#perform"),
    ...worker,
  ],
};

export const notAnAddress: Failure = {
  ...smtpTimeout,
  attempts: 3,
  exceptionClass: "Mailer::Undeliverable",
  frames: [
    at("lib/mailer.rb", "raise Undeliverable", "Mailer.deliver"),
    at(email, "Mailer.deliver(", "SendWelcomeEmail#perform"),
    ...worker,
  ],
};

export const unknownKeyword: Failure = {
  ...smtpTimeout,
  attempts: 1,
  exceptionClass: "ArgumentError",
  message: "unknown keyword: :password",
  frames: [at(email, "def perform(email", "SendWelcomeEmail#perform"), ...worker],
};

const sync = "app/tasks/sync_invoice.rb";
const throughGateway: readonly Frame[] = [
  at(sync, "gateway.push(", "block (2 levels) in SyncInvoice#perform"),
  at(sync, "gateway.push(", "Array#each"),
  at(sync, "gateway.push(", "block in SyncInvoice#perform"),
  at("lib/invoice_gateway.rb", "yield new(connection)", "block in InvoiceGateway.open"),
  gem("net-http-0.6.0/lib/net/http.rb", 1632, "Net::HTTP#start"),
  at("lib/invoice_gateway.rb", "Net::HTTP.start(", "InvoiceGateway.open"),
  at(sync, "InvoiceGateway.open do", "SyncInvoice#perform"),
];

export const accountingDown: Failure = {
  taskClass: "SyncInvoice",
  attempts: 6,
  exceptionClass: "InvoiceGateway::Unavailable",
  message: "accounting said 503",
  requestPath: "/orders",
  frames: [
    at("lib/invoice_gateway.rb", "raise Unavailable", "InvoiceGateway#check"),
    at("lib/invoice_gateway.rb", "    check(response)", "InvoiceGateway#push"),
    ...throughGateway,
    ...worker,
  ],
};

export const accountingRefused: Failure = {
  ...accountingDown,
  attempts: 1,
  exceptionClass: "InvoiceGateway::Rejected",
  message: [
    "accounting said 422",
    "{",
    '  "error": "invalid_invoice",',
    '  "details": [',
    '    { "line": 1, "field": "vat_rate", "problem": "must be one of 0, 7, 19" },',
    '    { "line": 2, "field": "isbn", "problem": "checksum does not match" },',
    '    { "line": 2, "field": "price", "problem": "must not be negative" }',
    "  ]",
    "}",
  ].join("\n"),
  frames: [
    at("lib/invoice_gateway.rb", "raise Rejected", "InvoiceGateway#check"),
    at("lib/invoice_gateway.rb", "    check(response)", "InvoiceGateway#push"),
    ...throughGateway,
    ...worker,
  ],
};

export const noDueDate: Failure = {
  ...accountingDown,
  exceptionClass: "NoMethodError",
  message: "undefined method '-' for nil",
  frames: [
    at("app/models/invoice.rb", "(due_on - Date.today)", "Invoice#days_left"),
    at(sync, "invoice.days_left.negative?", "SyncInvoice#perform"),
    ...worker,
  ],
};

export const frozenReference: Failure = {
  ...accountingDown,
  exceptionClass: "FrozenError",
  message: 'can\'t modify frozen String: "INV-1042"',
  frames: [
    at("app/models/invoice.rb", "reference <<", "Invoice#stamp"),
    at(sync, "invoice.stamp(", "block in SyncInvoice#perform"),
    ...throughGateway.slice(3),
    ...worker,
  ],
};

export const endlessBundle: Failure = {
  ...accountingDown,
  attempts: 2,
  exceptionClass: "SystemStackError",
  message: "stack level too deep",
  // Rage keeps twenty frames, so the task's own call is beyond the end.
  frames: Array.from({ length: 20 }, (_, index) =>
    [
      at(sync, "line.fetch(:bundle", "SyncInvoice#flatten"),
      at(sync, "line.fetch(:bundle", "block in SyncInvoice#flatten"),
      at(sync, "line.fetch(:bundle", "Array#flat_map"),
    ].at(index % 3),
  ).filter((frame) => frame !== undefined),
};

const resize = "app/tasks/resize_image.rb";

export const uploadGone: Failure = {
  taskClass: "ResizeImage",
  attempts: 4,
  exceptionClass: "Errno::ENOENT",
  message: "No such file or directory @ rb_sysopen - /tmp/RackMultipart20261128-17-x3v0.png",
  requestPath: "/users/12/avatar",
  frames: [
    at(resize, "File.binread(path)", "IO.binread"),
    at(resize, "File.binread(path)", "ResizeImage#perform"),
    ...worker,
  ],
};

export const tooSmall: Failure = {
  ...uploadGone,
  exceptionClass: "ZeroDivisionError",
  message: "divided by 0",
  frames: [
    at(resize, "image.width / ratio", "Integer#/"),
    at(resize, "image.width / ratio", "ResizeImage#perform"),
    ...worker,
  ],
};

export const bytesForPath: Failure = {
  ...uploadGone,
  attempts: 1,
  exceptionClass: "ArgumentError",
  message: "string contains null byte",
};

export const notAnImage: Failure = {
  ...uploadGone,
  exceptionClass: "ImageProcessor::Unsupported",
  message: 'cannot read the size of "%PDF-1.7"',
  frames: [
    at("lib/image_processor.rb", "raise Unsupported", "ImageProcessor#dimensions"),
    at("lib/image_processor.rb", "= dimensions", "ImageProcessor#initialize"),
    at(resize, "ImageProcessor.new(", "Class#new"),
    at(resize, "ImageProcessor.new(", "ResizeImage#perform"),
    ...worker,
  ],
};

const catalog = "app/tasks/import_catalog.rb";
const throughParser: readonly Frame[] = [
  at("lib/catalog_parser.rb", "yield rename(row.to_h)", "block in CatalogParser#each"),
  gem("csv-3.3.0/lib/csv.rb", 2608, "CSV#each"),
  internal("kernel", 187, "Kernel#loop"),
  at("lib/catalog_parser.rb", "CSV.foreach(@source", "CatalogParser#each"),
  at(catalog, "parser.each do", "ImportCatalog#perform"),
];

export const oddDate: Failure = {
  taskClass: "ImportCatalog",
  attempts: 3,
  exceptionClass: "Date::Error",
  message: "invalid date",
  requestPath: "/admin/catalog",
  frames: [
    at(catalog, "Date.strptime(", "Date.strptime"),
    at(catalog, "Date.strptime(", "block in ImportCatalog#perform"),
    ...throughParser,
    ...worker,
  ],
};

export const decimalComma: Failure = {
  ...oddDate,
  exceptionClass: "ArgumentError",
  message: 'invalid value for BigDecimal(): "12,50"',
  frames: [
    at(catalog, "BigDecimal(row[:price])", "Kernel#BigDecimal"),
    at(catalog, "BigDecimal(row[:price])", "ImportCatalog#price"),
    at(catalog, "price: price(row)", "block in ImportCatalog#perform"),
    ...throughParser,
    ...worker,
  ],
};

export const emptyCells: Failure = {
  ...oddDate,
  exceptionClass: "CatalogParser::BadRow",
  message: [
    "/srv/import/hanser-2026-11.csv, line 2817:",
    ..."isbn title subtitle author editor translator series volume edition published_on pages format weight".split(" "),
    ..."language country vat_rate price currency stock warehouse shelf cover blurb updated_at".split(" "),
  ]
    .map((line, index) => (index === 0 ? line : `  ${line} is empty`))
    .join("\n"),
  frames: [
    at("lib/catalog_parser.rb", "raise BadRow", "block in CatalogParser#each"),
    ...throughParser.slice(1),
    ...worker,
  ],
};

export const twoPublishers: Failure = {
  ...oddDate,
  exceptionClass: "Product::Conflict",
  message: "978-3-446-27914-8 belongs to Ars Édition für Kinder",
  frames: [
    at("app/models/product.rb", "raise Conflict", "Product.upsert"),
    at(catalog, "Product.upsert(", "block in ImportCatalog#perform"),
    ...throughParser,
    ...worker,
  ],
};

const slack = "app/tasks/notify_slack.rb";

export const slackRefused: Failure = {
  taskClass: "NotifySlack",
  attempts: 21,
  exceptionClass: null,
  message: "slack said channel_not_found",
  requestPath: "/signup",
  frames: [
    at("lib/slack_client.rb", "raise Class.new", "SlackClient#post"),
    at(slack, "client.post(", "NotifySlack#perform"),
    ...worker,
  ],
};

export const stringKeys: Failure = {
  ...slackRefused,
  attempts: 5,
  exceptionClass: "KeyError",
  message: "key not found: :text",
  frames: [
    at(slack, "message.fetch(:text)", "Hash#fetch"),
    at(slack, "message.fetch(:text)", "NotifySlack#text"),
    at(slack, "client.post(", "NotifySlack#perform"),
    ...worker,
  ],
};

export const endlessMessage: Failure = {
  ...slackRefused,
  attempts: 2,
  exceptionClass: "JSON::NestingError",
  message: "nesting of 101 is too deep",
  frames: [
    gem("json-2.9.1/lib/json/common.rb", 445, "JSON::State#generate"),
    gem("json-2.9.1/lib/json/common.rb", 445, "JSON.generate"),
    at("lib/slack_client.rb", "JSON.generate(", "SlackClient#post"),
    at(slack, "client.post(", "NotifySlack#perform"),
    ...worker,
  ],
};

const charge = "app/tasks/billing/charge_card.rb";

export const declined: Failure = {
  taskClass: "Billing::ChargeCard",
  attempts: 5,
  exceptionClass: "PaymentGateway::CardDeclined",
  message: "Your card has insufficient funds.",
  requestPath: "/orders/1042/pay",
  frames: [
    at("lib/payment_gateway.rb", "raise CardDeclined", "PaymentGateway#charge"),
    at(charge, "gateway.charge(", "Billing::ChargeCard#perform"),
    ...worker,
  ],
};

export const noCurrency: Failure = {
  ...declined,
  attempts: 1,
  exceptionClass: "ArgumentError",
  message: "missing keyword: :currency",
  frames: [at(charge, "def perform(amount", "Billing::ChargeCard#perform"), ...worker],
};

export const lostCent: Failure = {
  ...declined,
  exceptionClass: "Billing::ChargeCard::AmountMismatch",
  message: "charged 1998 instead of 19.99",
  frames: [
    at(charge, "raise AmountMismatch", "Billing::ChargeCard#verify"),
    at(charge, "    verify(charge, amount)", "Billing::ChargeCard#perform"),
    ...worker,
  ],
};

export const paymentTimeout: Failure = {
  ...declined,
  exceptionClass: "PaymentGateway::Timeout",
  message: "no answer from payments.example.com: Net::ReadTimeout with #<TCPSocket:(closed)>",
  frames: [
    at("lib/payment_gateway.rb", "raise Timeout", "PaymentGateway#charge"),
    at(charge, "gateway.charge(", "Billing::ChargeCard#perform"),
    ...worker,
  ],
};

/** Of a class that has been removed from the application since. */
export const removedClass: Failure = {
  taskClass: "PrintLabels",
  attempts: 21,
  exceptionClass: "NameError",
  message: "uninitialized constant PrintLabels::LabelPrinter",
  requestPath: null,
  frames: [({ root }) => `${root}/app/tasks/print_labels.rb:8:in \`perform'`, ...worker],
};
