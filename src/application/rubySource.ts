/**
 * Just enough of Ruby's lexical grammar to tell code from comments, strings and here-documents, so that a setting can be read
 * off the text of a file. It runs nothing and accepts any text: what it does not know becomes an `other` token.
 */
export interface RubyToken {
  /**
   * `name`: an identifier, constant, keyword or variable. `label`: `path:` without its colon. `string` and `symbol`: literals
   * without interpolation. `other`: any other literal, an interpolated string or a here-document included.
   */
  readonly kind: "name" | "label" | "string" | "symbol" | "number" | "punctuation" | "newline" | "other";
  readonly text: string;
  /** 1-based. */
  readonly line: number;
}

/** Longest first; any other character stands for itself. */
const operators =
  "**= === <=> ||= &&= <<= >>= ... ** == => =~ != !~ -> .. &. || && :: <= >= += -= *= /= %= |= &= ^= << >>".split(" ");

/** Keywords after which a value begins, so that `/`, `%`, `?` and `<<` open a literal. */
const beforeValue = new Set("if unless while until elsif else when in then do return and or not begin case".split(" "));

/** Interpolations within interpolations. Nobody nests deeper, and the text is anyone's. */
const maximumNesting = 50;

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "<": ">" };
const identifier = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*/y;

interface HereDocument {
  readonly terminator: string;
  readonly indented: boolean;
}

class Tokenizer {
  readonly tokens: RubyToken[] = [];
  #index = 0;
  #line = 1;
  #nesting = 0;
  #hereDocuments: HereDocument[] = [];

  constructor(readonly source: string) {}

  run(): RubyToken[] {
    this.#skipByteOrderMark();
    if (!this.#skipLinesThatAreNotCode()) this.#readCode(false);
    return this.tokens;
  }

  #skipByteOrderMark(): void {
    if (this.source.startsWith("\uFEFF")) this.#index = 1;
  }

  /** Reads to the end of the text, or to the `}` that ends an interpolation. */
  #readCode(inInterpolation: boolean): void {
    let depth = 0;
    while (this.#index < this.source.length) {
      const character = this.source.charAt(this.#index);
      if (inInterpolation && character === "{") depth++;
      if (inInterpolation && character === "}" && depth-- === 0) return;
      if (character === "\n") {
        this.#push("newline", "\n", 1);
        this.#line++;
        this.#skipHereDocuments();
        if (this.#skipLinesThatAreNotCode()) return;
      } else if (character === "#") {
        this.#index = this.#endOfLine();
      } else if (character === "\\" && /^\\\r?\n/.test(this.source.slice(this.#index, this.#index + 3))) {
        this.#index = this.#endOfLine() + 1;
        this.#line++;
      } else if (/\s/.test(character)) {
        this.#index++;
      } else {
        this.#readToken(character);
      }
    }
  }

  /** At the start of a line: skips `=begin … =end`; true where `__END__` ends the program. */
  #skipLinesThatAreNotCode(): boolean {
    while (/^=begin(\s|$)/.test(this.source.slice(this.#index, this.#index + 7))) {
      const end = /^=end(\s.*)?$/m.exec(this.source.slice(this.#index));
      const stop = end === null ? this.source.length : this.#index + end.index + end[0].length;
      this.#advanceTo(stop);
      if (this.source.charAt(this.#index) === "\n") this.#advanceTo(this.#index + 1);
    }
    return /^__END__\r?(\n|$)/.test(this.source.slice(this.#index, this.#index + 9));
  }

  #skipHereDocuments(): void {
    for (const { terminator, indented } of this.#hereDocuments.splice(0)) {
      for (let found = false; !found && this.#index < this.source.length;) {
        const end = this.#endOfLine();
        const line = this.source.slice(this.#index, end).replace(/\r$/, "");
        found = (indented ? line.trimStart() : line) === terminator;
        this.#advanceTo(Math.min(end + 1, this.source.length));
      }
    }
  }

  #readToken(character: string): void {
    if (character === '"' || character === "`") {
      this.#readQuoted(1, character, true, character === "`");
    } else if (character === "'") {
      this.#readQuoted(1, character, false, false);
    } else if (/[0-9]/.test(character)) {
      this.#pushMatch("number", /[0-9][0-9_]*(\.[0-9][0-9_]*)?(e[+-]?[0-9]+|x[0-9a-fA-F_]+)?[ri]?/iy);
    } else if (/[A-Za-z_@$\u0080-\uffff]/.test(character)) {
      this.#readName();
    } else if (character === ":" && this.source.charAt(this.#index + 1) !== ":") {
      this.#readSymbol();
    } else if (!this.#readOtherLiteral(character)) {
      const operator = operators.find((each) => this.source.startsWith(each, this.#index)) ?? character;
      this.#push("punctuation", operator, operator.length);
    }
  }

  #readName(): void {
    const name = this.#match(/(@@?|\$)?[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*([?!](?!=))?|\$\S|@/y);
    const after = this.#index + name.length;
    const isLabel = this.source.charAt(after) === ":" && this.source.charAt(after + 1) !== ":";
    if (isLabel) this.#push("label", name, name.length + 1);
    else this.#push("name", name, name.length);
  }

  #readSymbol(): void {
    const next = this.source.charAt(this.#index + 1);
    if (next === '"' || next === "'") {
      const before = this.tokens.length;
      this.#index++;
      this.#readQuoted(1, next, next === '"', false);
      const last = this.tokens[before];
      if (last?.kind === "string") this.tokens[before] = { ...last, kind: "symbol" };
      return;
    }
    identifier.lastIndex = this.#index + 1;
    const name = identifier.exec(this.source)?.[0];
    if (name === undefined) this.#push("punctuation", ":", 1);
    else this.#push("symbol", name, name.length + 1);
  }

  /** Literals whose opening is an operator elsewhere: regular expressions, `%…`, `?x` and here-documents. */
  #readOtherLiteral(character: string): boolean {
    if (!"/%?<".includes(character) || !this.#valueMayBegin()) return false;
    const rest = this.source.slice(this.#index, this.#index + 80);
    if (character === "/") {
      this.#readQuoted(1, "/", true, true);
      return true;
    }
    if (character === "%") {
      const opening = /^%([qQwWiIrsx]?)([^A-Za-z0-9\s=])/.exec(rest);
      if (opening === null) return false;
      const kind = opening[1] ?? "";
      const isString = kind === "" || kind === "q" || kind === "Q";
      this.#readQuoted(opening[0].length, opening[2] ?? "", !"qwis".includes(kind) || kind === "", !isString);
      return true;
    }
    if (character === "?") {
      const literal = /^\?([^\s\\])(?![A-Za-z0-9_])/.exec(rest);
      if (literal === null) return false;
      this.#push("string", literal[1] ?? "", 2);
      return true;
    }
    const hereDocument = /^<<([~-]?)(["'`]?)([A-Za-z_]\w*)\2/.exec(rest);
    if (hereDocument === null) return false;
    this.#hereDocuments.push({ terminator: hereDocument[3] ?? "", indented: hereDocument[1] !== "" });
    this.#push("other", hereDocument[0], hereDocument[0].length);
    return true;
  }

  /** A quoted literal of any sort, whose opening is `openingLength` long and ends in `delimiter`. */
  #readQuoted(openingLength: number, delimiter: string, interpolates: boolean, isOther: boolean): void {
    const line = this.#line;
    const close = closers[delimiter] ?? delimiter;
    let text = "";
    let literal = !isOther;
    let depth = 0;
    this.#advanceTo(this.#index + openingLength);
    while (this.#index < this.source.length) {
      const character = this.source.charAt(this.#index);
      if (character === close && depth-- === 0) break;
      if (character === delimiter && close !== delimiter) depth++;
      if (character === "\\") {
        const escaped = this.source.charAt(this.#index + 1);
        // Other escapes (`\n`, `\x41`) do not stand in paths; reading them as letters would be a wrong answer.
        if (escaped === "\\" || escaped === close || escaped === delimiter) text += escaped;
        else if (interpolates) literal = false;
        else text += `\\${escaped}`;
        this.#advanceTo(this.#index + 2);
      } else if (interpolates && character === "#" && /[{@$]/.test(this.source.charAt(this.#index + 1))) {
        literal = false;
        this.#skipInterpolation();
      } else {
        text += character;
        this.#advanceTo(this.#index + 1);
      }
    }
    this.#index++;
    const isLabel = /^["']$/.test(delimiter) && /^:(?!:)/.test(this.source.slice(this.#index, this.#index + 2));
    if (isLabel) this.#index++;
    this.tokens.push({ kind: !literal ? "other" : isLabel ? "label" : "string", text, line });
  }

  #skipInterpolation(): void {
    this.#index += 2;
    if (this.source.charAt(this.#index - 1) !== "{" || this.#nesting === maximumNesting) return;
    const outside = this.tokens.length;
    this.#nesting++;
    this.#readCode(true);
    this.#nesting--;
    this.tokens.length = outside;
    this.#index++;
  }

  /** Whether an ambiguous character opens a literal here: after an operator, or as a command's first argument. */
  #valueMayBegin(): boolean {
    const last = this.tokens.at(-1);
    if (last === undefined || last.kind === "newline" || last.kind === "label") return true;
    if (last.kind === "punctuation") return ![")", "]", "}"].includes(last.text);
    if (last.kind !== "name") return false;
    if (beforeValue.has(last.text)) return true;
    const spaceBefore = /\s/.test(this.source.charAt(this.#index - 1));
    const spaceAfter = /[\s=]/.test(this.source.charAt(this.#index + 1));
    return spaceBefore && !spaceAfter;
  }

  #endOfLine(): number {
    const end = this.source.indexOf("\n", this.#index);
    return end < 0 ? this.source.length : end;
  }

  #advanceTo(end: number): void {
    for (let index = this.#index; index < end; index++) if (this.source.charAt(index) === "\n") this.#line++;
    this.#index = end;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#index;
    return pattern.exec(this.source)?.[0] ?? this.source.charAt(this.#index);
  }

  #pushMatch(kind: RubyToken["kind"], pattern: RegExp): void {
    const text = this.#match(pattern);
    this.#push(kind, text, text.length);
  }

  #push(kind: RubyToken["kind"], text: string, length: number): void {
    this.tokens.push({ kind, text, line: this.#line });
    this.#index += length;
  }
}

/** The tokens of a Ruby source text. Never throws. */
export function tokenizeRuby(source: string): RubyToken[] {
  return new Tokenizer(source).run();
}
