/** Names and answers in words: axis titles, what is copied, names of files. */
import { expect, test } from "vitest";
import { plainText } from "../../src/answer/plainText";
import { axisTitle } from "../../src/result/axisTitle";
import { counted } from "../../src/shell/counted";
import { fileName } from "../../src/shell/fileName";

test.each([
  ["order_date", "Order date"],
  ["COUNT(*)", "Number of rows"],
  ["COUNT(DISTINCT customer_id)", "Number of different customer ID"],
  ["SUM(oi.total_amount)", "Sum of total amount"],
  ["ROUND(AVG(price), 2)", "Average price"],
  ["totalAmount", "Total amount"],
  ["price_eur", "Price (EUR)"],
  ["price * quantity", "Price * quantity"],
  ["GDP", "GDP"],
])("the axis of %s is called %s", (column, title) => expect(axisTitle(column)).toBe(title));

test.each([
  ["There are **480** rows in order\\_date.", "There are 480 rows in order_date."],
  ["The largest COUNT(\\*) is *11*.", "The largest COUNT(*) is 11."],
  ["3 * 4 * 5", "3 * 4 * 5"],
])("%s is copied as %s", (markdown, text) => expect(plainText(markdown)).toBe(text));

test("a file is named after its question", () => {
  expect(fileName("How many customers are there?")).toBe("how-many-customers-are-there");
  expect(fileName("Größe & Zahl")).toBe("größe-zahl");
  expect(fileName("?!")).toBe("text2sql");
});

test("one is not many", () => {
  expect(counted(1, "table")).toBe("1 table");
  expect(counted(1200, "table")).toBe("1,200 tables");
});
