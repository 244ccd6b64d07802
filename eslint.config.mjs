import tseslint from "typescript-eslint";

/** Modules that must run without an editor: the command line is built from them alone. */
const editorFree = [
  "src/application/**/*.ts",
  "src/storage/**/*.ts",
  "src/marshal/**/*.ts",
  "src/cli/**/*.ts",
  "src/ruby/**/*.ts",
  "src/service/**/*.ts",
];

export default tseslint.config(
  { ignores: ["dist/", "out/", ".vscode-test/", "test/fixtures/"] },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ["./tsconfig.json", "./src/detail/webview/tsconfig.json", "./src/raw/webview/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-import-type-side-effects": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      // Numbers in messages are plain and readable; everything else must be converted on purpose.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "no-console": "error",
      eqeqeq: "error",
    },
  },
  {
    files: editorFree,
    rules: {
      "no-restricted-imports": [
        "error",
        { paths: [{ name: "vscode", message: "This module must run without an editor." }] },
      ],
    },
  },
  {
    // Test suites read better with literal non-null access; a wrong assumption fails the test, which is the point.
    files: ["test/**/*.ts"],
    rules: { "@typescript-eslint/no-non-null-assertion": "off" },
  },
);
