import { expect, test } from "vitest";
import { askedView, preferred } from "../../src/result/askedView";
import { chooseCharts } from "../../src/result/chooseChart";

test.each([
  ["plot funding by sector", "chart", null],
  ["funding by sector as a pie chart", "chart", "bar"],
  ["Please chart revenue by month", "chart", null],
  ["show me a line graph of revenue per month", "chart", "line"],
  ["show startups in a table", "table", null],
])("%s", (question, view, kind) => {
  expect(askedView(question)).toEqual({ view, kind });
});

test.each(["how many orders are there?", "which tables are free", "orders by sector"])("%s asks for no view", (question) => {
  expect(askedView(question)).toBeNull();
});

test("the chart that was named comes first where the shape allows it", () => {
  const charts = chooseCharts(["city", "orders"], [["Oslo", 3], ["Bergen", 5], ["Moss", 1]]);
  expect(preferred(charts, askedView("orders by city as a column chart"))[0]?.kind).toBe("column");
  expect(preferred(charts, askedView("orders by city as a line chart"))).toEqual(charts);
});
