/** The type bytes of Marshal 4.8, by the names that Ruby's `marshal.c` gives them. */
export const Type = {
  Nil: 0x30, // 0
  True: 0x54, // T
  False: 0x46, // F
  Fixnum: 0x69, // i
  Bignum: 0x6c, // l
  Float: 0x66, // f
  String: 0x22, // "
  Regexp: 0x2f, // /
  Array: 0x5b, // [
  Hash: 0x7b, // {
  HashWithDefault: 0x7d, // }
  Struct: 0x53, // S
  Object: 0x6f, // o
  Data: 0x64, // d
  UserDefined: 0x75, // u
  UserMarshal: 0x55, // U
  Extended: 0x65, // e
  UserClass: 0x43, // C
  Class: 0x63, // c
  Module: 0x6d, // m
  ClassOrModule: 0x4d, // M
  Symbol: 0x3a, // :
  SymbolLink: 0x3b, // ;
  InstanceVariables: 0x49, // I
  Link: 0x40, // @
} as const;

/** `compare_by_identity` is written as if the Hash were of a subclass `Hash`. */
export const IDENTITY_CLASS = "Hash";

/** The digits that `w_float` writes, and the longer exponents of older releases. */
export const FLOAT_TEXT = /^(?:-?inf|nan|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)$/;
