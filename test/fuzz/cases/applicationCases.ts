import type { HostileCase } from "./index";

/** About as much as is read of a file of configuration. */
function filled(front: string, piece: string): Buffer {
  const size = 262_000;
  return Buffer.from(front + piece.repeat(Math.floor((size - front.length) / piece.length)));
}

const rage = 'require "rage"\n';

export const applicationCases: readonly HostileCase[] = [
  ["methods whose parameters never end", "def a("],
  ["one line of nothing but do", "do "],
  ["assignments whose options never end", "deferred.backend=:disk,{a:( "],
  ["assignments within blocks that never end", "do;deferred.backend=nil;"],
  ["a chain of assignments", "a.deferred.backend = "],
  ["here-documents that never end", "<<A "],
  ["comments that begin and never end", "=begin\n=end\n"],
  ["interpolations that never end", '"#{'],
  ["brackets that never end", "deferred.backend=:disk,path: (("],
  ["paths added up", "deferred.backend=:disk,path: 'a'+"],
  ["one word", "a"],
  ["one string", "'a' "],
].map(([name, piece]) => ({ name: name!, target: "configuration", input: () => filled(rage, piece!) }));
