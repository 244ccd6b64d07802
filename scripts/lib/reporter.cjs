// Mocha's own spec output for people, and its JSON at `DEAD_TASKS_RESULTS` for scripts/test.mjs.
// CommonJS, since Mocha loads a reporter with require(), within the extension host as well.
const Mocha = require("mocha");

module.exports = class extends Mocha.reporters.Spec {
  /**
   * @param {import("mocha").Runner} runner
   * @param {import("mocha").MochaOptions} options
   */
  constructor(runner, options) {
    super(runner, options);
    const output = process.env["DEAD_TASKS_RESULTS"];
    if (!output) return;
    // The types know only the older name, `reporterOptions`, which the JSON reporter does not read.
    new Mocha.reporters.JSON(runner, /** @type {typeof options} */ ({ ...options, reporterOption: { output } }));
  }
};
