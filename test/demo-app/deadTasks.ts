import type { RubyArray, RubyHash } from "../../src/marshal";
import {
  array,
  bigDecimal,
  binary,
  bool,
  cyclicArray,
  date,
  float,
  hash,
  int,
  nil,
  object,
  range,
  set,
  str,
  struct,
  sym,
  symbolHash,
  time,
} from "../support/ruby";
import * as failures from "./failures";

/** A dead task of the demo, before it has a place. */
export interface DemoTask extends failures.Failure {
  /** Unix seconds. */
  readonly failedAt: number;
  readonly args: RubyArray | null;
  readonly kwargs: RubyHash | null;
  readonly userContext: RubyHash | null;
  /** Failed in the container, whose application is at /srv/app and whose Ruby is 3.3. */
  readonly inContainer: boolean;
}

type Call = Partial<Pick<DemoTask, "args" | "kwargs" | "message" | "userContext" | "inContainer" | "requestPath">>;

/** The demo's dead tasks, the oldest failure first. `now` is in Unix seconds. */
export function demoTasks(now: number): DemoTask[] {
  const tasks: DemoTask[] = [];
  const died = (minutesAgo: number, failure: failures.Failure, call: Call): void => {
    const failedAt = now - minutesAgo * 60;
    tasks.push({ args: null, kwargs: null, userContext: null, inContainer: false, ...failure, ...call, failedAt });
  };
  const inContainer = true;
  const hour = 60;
  const day = 24 * hour;
  const german = object("Publisher", {
    "@name": str("Ars Édition für Kinder"),
    "@discount": bigDecimal("125", 0),
    "@contract": range(date(2025, 1, 1), date(2027, 12, 31)),
    "@contact": object("Contact", { "@email": str("vertrieb@example.org"), "@phone": nil() }),
    "@formats": set(sym("hardcover"), sym("ebook")),
  });
  const money = (cents: number, currency: string) => struct("Money", { cents: int(cents), currency: sym(currency) });
  const tenant = (name: string) => symbolHash({ tenant: str(name) });

  died(6 * day + 5 * hour, failures.removedClass, { args: array(int(7), str("A4")), inContainer });
  died(5 * day + 2 * hour, failures.oddDate, {
    args: array(str("/srv/import/suhrkamp-2026-11.csv"), str("Suhrkamp")),
    kwargs: symbolHash({
      since: time(now - 6 * day * 60, 3600),
      columns: hash(
        [str("Titel"), str("title")],
        [str("ISBN-13"), str("isbn")],
        [str("Ersch.-Datum"), str("published_on")],
      ),
    }),
    inContainer,
  });
  died(4 * day + 20 * hour, failures.noDueDate, { args: array(int(988)), inContainer });
  died(4 * day + 11 * hour, failures.noDueDate, { args: array(int(991)), kwargs: symbolHash({ force: bool(false) }) });
  died(4 * day, failures.stringKeys, {
    args: array(str("#orders"), hash([str("text"), str("Order 988 was paid")], [str("icon"), str("📚")])),
    inContainer,
  });
  died(3 * day + 9 * hour, failures.decimalComma, {
    args: array(str("/srv/import/ars-2026-11.csv"), german),
    kwargs: symbolHash({ since: time(now - 4 * day * 60), columns: hash() }),
    userContext: symbolHash({
      tenant: str("bookshop"),
      admin: object("User", { "@id": int(3), "@email": str("ada@example.com") }),
    }),
  });
  died(3 * day, failures.unknownKeyword, {
    args: array(str("grace@example.com")),
    kwargs: symbolHash({ locale: sym("en"), password: str("correct horse battery staple") }),
  });
  died(2 * day + 22 * hour, failures.slackRefused, {
    args: array(str("#sign-ups"), symbolHash({ text: str("linus@example.com signed up") })),
    kwargs: symbolHash({ mentions: array(str("ada"), str("grace")) }),
  });
  died(2 * day + 18 * hour, failures.endlessBundle, {
    args: array(int(1017)),
    kwargs: symbolHash({ force: bool(true) }),
  });
  died(2 * day + 4 * hour, failures.twoPublishers, { args: array(str("/srv/import/ars-2026-11.csv"), german) });
  died(1 * day + 21 * hour, failures.emptyCells, {
    args: array(str("/srv/import/hanser-2026-11.csv"), str("Hanser")),
    kwargs: symbolHash({ since: time(now - 2 * day * 60 + 0.25, -12_600) }),
  });
  died(1 * day + 15 * hour, failures.bytesForPath, {
    args: array(binary(Buffer.from("89504e470d0a1a0a0000000d49484452000000400000004008060000", "hex"))),
    kwargs: symbolHash({ width: int(256), height: int(256), format: sym("png") }),
  });
  died(1 * day + 9 * hour, failures.noCurrency, {
    args: array(float(24.5)),
    kwargs: symbolHash({ token: str("tok_live_4eC39HqLyjWDarjtT1zdp7dc"), invoice_id: int(1004) }),
    inContainer,
  });
  died(1 * day + 8 * hour, failures.noCurrency, {
    args: array(money(3480, "eur")),
    kwargs: symbolHash({ token: str("tok_live_51H8xyzKqPZ0aTtR9"), invoice_id: int(1006) }),
    inContainer,
  });
  died(1 * day + 2 * hour, failures.accountingDown, { args: array(int(1021)), inContainer });
  died(1 * day + 1 * hour, failures.accountingDown, { args: array(int(1022)), inContainer });
  died(23 * hour, failures.accountingDown, {
    args: array(int(1023)),
    kwargs: symbolHash({ force: bool(true) }),
    message: "accounting said 502",
  });
  died(19 * hour, failures.notAnImage, {
    args: array(str("/tmp/RackMultipart20261128-17-p7aa.pdf")),
    kwargs: symbolHash({ width: int(1024), height: int(768) }),
    requestPath: "/users/31/avatar",
  });
  died(15 * hour, failures.endlessMessage, {
    args: array(
      str("#alerts"),
      symbolHash({ text: cyclicArray((itself) => [str("disk almost full"), symbolHash({ thread: itself })]) }),
    ),
  });
  died(11 * hour, failures.uploadGone, {
    args: array(str("/tmp/RackMultipart20261128-17-x3v0.png")),
    kwargs: symbolHash({ width: int(256), height: int(256) }),
    userContext: tenant("bookshop"),
  });
  died(10 * hour + 30, failures.uploadGone, {
    args: array(str("/tmp/RackMultipart20261128-17-k91b.jpg")),
    kwargs: symbolHash({ width: int(256), height: int(256) }),
    message: "No such file or directory @ rb_sysopen - /tmp/RackMultipart20261128-17-k91b.jpg",
    requestPath: "/users/57/avatar",
    userContext: tenant("bookshop"),
  });
  died(9 * hour, failures.tooSmall, {
    args: array(str("/var/uploads/u57.gif")),
    kwargs: symbolHash({ width: int(2048), height: int(2048), format: nil() }),
    requestPath: "/users/57/avatar",
  });
  died(8 * hour, failures.notAnAddress, {
    args: array(str("\u001b[31mmallory\u001b[0m\nBcc: everyone")),
    message: 'no address in "\\e[31mmallory\\e[0m\\nBcc: everyone"\n(was \u001b[31mmallory\u001b[0m)',
  });
  died(6 * hour, failures.lostCent, {
    args: array(float(19.99)),
    kwargs: symbolHash({
      token: str("tok_live_9bQz7LmN2cXv"),
      currency: sym("eur"),
      invoice_id: int(1033),
      idempotency_key: str("0f8fad5b-d9cb-469f-a165-70867728950e"),
    }),
  });
  died(5 * hour, failures.frozenReference, { args: array(int(1042)), userContext: tenant("bookshop") });
  died(4 * hour, failures.accountingRefused, {
    args: array(int(2n ** 64n + 7n)),
    kwargs: symbolHash({ force: bool(true) }),
  });
  died(3 * hour + 10, failures.unknownLocale, {
    args: array(str("käthe@example.com")),
    kwargs: symbolHash({ locale: str("de") }),
  });
  died(3 * hour, failures.unknownLocale, {
    args: array(str("joão@example.com")),
    kwargs: symbolHash({ locale: sym("pt") }),
    message: "key not found: :pt",
  });
  died(2 * hour, failures.nobodyThere, {
    args: array(str("Linus@Example.com")),
    kwargs: symbolHash({ locale: sym("en") }),
  });
  died(96, failures.nobodyThere, { args: array(str("ADA@example.com")), kwargs: symbolHash({ locale: sym("fr") }) });
  died(71, failures.paymentTimeout, {
    args: array(money(5990, "eur")),
    kwargs: symbolHash({
      token: str("tok_live_aX3pQ8"),
      currency: sym("eur"),
      invoice_id: int(1040),
      idempotency_key: str("7c9e6679-7425-40de-944b-e07fc1f90ae7"),
    }),
  });
  died(44, failures.declined, {
    args: array(money(12_900, "eur")),
    kwargs: symbolHash({ token: str("tok_live_77Gh1k"), currency: sym("eur"), invoice_id: int(1042) }),
    userContext: symbolHash({
      tenant: str("bookshop"),
      session: symbolHash({ user_id: int(57), api_key: str("sk_b00k5h0p") }),
    }),
  });
  died(27, failures.slackRefused, {
    args: array(str("#sign-ups"), symbolHash({ text: str("margaret@example.com signed up") })),
  });
  died(16, failures.smtpTimeout, {
    args: array(str("barbara@example.com")),
    kwargs: symbolHash({ locale: sym("en") }),
  });
  died(9, failures.smtpTimeout, {
    args: array(str("margaret@example.com")),
    kwargs: symbolHash({ locale: sym("fr") }),
  });
  died(3, failures.smtpTimeout, { args: array(str("user@example.com")), kwargs: symbolHash({ locale: sym("en") }) });
  return tasks;
}
