// Chromium, driven by Playwright.
import { chromium } from "playwright-core";
import { StepError } from "./steps.mjs";
import { findChromium } from "./system.mjs";

/** @returns {Promise<import("playwright-core").Browser>} */
export async function launchBrowser() {
  const executablePath = findChromium();
  if (executablePath === null) {
    throw new StepError("No Chromium or Chrome found: install one, or name it in DEAD_TASKS_CHROMIUM.");
  }
  const args = ["--disable-background-networking"];
  if (process.getuid?.() === 0) args.push("--no-sandbox"); // Chromium's sandbox refuses root.
  return chromium.launch({ executablePath, args });
}
