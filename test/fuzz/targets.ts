import { marshalTargets } from "./marshalTargets";
import { recordTargets } from "./recordTargets";
import { storeTargets } from "./storeTargets";
import type { Target } from "./target";

export const targets: readonly Target[] = [...marshalTargets, ...recordTargets, ...storeTargets];
