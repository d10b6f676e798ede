"""The facts of `enterprise`, in the order in which they refer to each other, and the staging table."""

from __future__ import annotations

from eval.schema import Column, ForeignKey
from experiments.demo_databases.definition import TableDef, day, define, flag, moment, money, ref, text, whole

_TENANT, _DATE = ref("tenant_id", "dim_tenant"), ref("date_key", "dim_date")
_CUSTOMER, _STORE, _PRODUCT = (
    ref("customer_key", "dim_customer"),
    ref("store_key", "dim_store"),
    ref("product_key", "dim_product"),
)
_ORDER, _PROMOTION = ref("order_id", "fact_orders"), ref("promotion_key", "dim_promotion")


def _fact(
    name: str,
    comment: str,
    columns: tuple[Column, ...],
    *,
    refs: tuple[ForeignKey, ...],
    unique: tuple[tuple[str, ...], ...] = (),
    indexes: tuple[tuple[str, ...], ...] = (),
    checks: tuple[str, ...] = (),
) -> TableDef:
    """A fact table: its key is its first column, its second is the tenant."""
    key, *others = columns
    keyed = (key, whole("tenant_id", "Brand"), *others)
    return define(
        name,
        comment,
        keyed,
        key=(key.name,),
        refs=(_TENANT, *refs),
        unique=unique,
        indexes=indexes,
        checks=checks,
    )


FACTS: tuple[TableDef, ...] = (
    _fact(
        "fact_orders",
        "Orders, one row each; a cancelled order has no sales lines and no total",
        (
            whole("order_id", "Order number"),
            whole("customer_key", "Version of the customer on that day"),
            whole("store_key", "Store that took the order"),
            whole("date_key", "Day of the order"),
            moment("ordered_at", "When it was placed"),
            text("channel", 10, "online, in_store or phone"),
            text("status", 12, "processing, shipped, completed or cancelled"),
            whole("item_count", "Pieces ordered; 0 for a cancelled order"),
            money("total_amount", "Sum of the order's sales lines, in euros; none if cancelled", null=True),
        ),
        refs=(_CUSTOMER, _STORE, _DATE),
        indexes=(("customer_key",), ("date_key",), ("tenant_id", "store_key")),
        checks=(
            "channel IN ('online', 'in_store', 'phone')",
            "status IN ('processing', 'shipped', 'completed', 'cancelled')",
            "(status = 'cancelled' AND total_amount IS NULL) OR (status <> 'cancelled' AND total_amount >= 0)",
        ),
    ),
    _fact(
        "fact_sales",
        "Sales lines: one product of one order",
        (
            whole("sale_id", "Line number over all orders"),
            whole("order_id", "The order"),
            whole("date_key", "Day of the order"),
            whole("product_key", "Product sold"),
            whole("customer_key", "Version of the customer on that day"),
            whole("store_key", "Store that took the order"),
            whole("employee_id", "Who sold it; none online", null=True),
            whole("promotion_key", "Promotion applied, if any", null=True),
            whole("quantity", "Pieces"),
            money("unit_price", "Price of one piece that year before discount, in euros"),
            money("discount_amount", "Taken off the line by the promotion, in euros"),
            money("sales_amount", "quantity times unit_price less discount_amount, in euros"),
            money("cost_amount", "Cost of the goods of the line, in euros"),
        ),
        refs=(_ORDER, _DATE, _PRODUCT, _CUSTOMER, _STORE, ref("employee_id", "dim_employee"), _PROMOTION),
        unique=(("order_id", "product_key"),),
        indexes=(("date_key",), ("product_key",), ("customer_key",), ("store_key", "date_key"), ("employee_id",)),
        checks=(
            "quantity > 0",
            "discount_amount >= 0",
            "sales_amount = quantity * unit_price - discount_amount",
            "promotion_key IS NOT NULL OR discount_amount = 0",
        ),
    ),
    _fact(
        "fact_payments",
        "Money received for orders; some are paid in parts, some not yet in full",
        (
            whole("payment_id", "Payment number"),
            whole("order_id", "The order paid"),
            whole("date_key", "Day the money came in"),
            moment("paid_at", "When the money came in"),
            text("method", 10, "card, wallet, invoice or cash"),
            money("amount", "Amount, in euros"),
        ),
        refs=(_ORDER, _DATE),
        indexes=(("order_id",), ("date_key",)),
        checks=("amount > 0", "method IN ('card', 'wallet', 'invoice', 'cash')"),
    ),
    _fact(
        "fact_shipments",
        "Parcels for online and phone orders",
        (
            whole("shipment_id", "Shipment number"),
            whole("order_id", "The order shipped"),
            whole("shipped_date_key", "Day it left"),
            whole("delivered_date_key", "Day it arrived; none in transit or lost", null=True),
            moment("shipped_at", "When it left"),
            moment("delivered_at", "When it arrived; none in transit or lost", null=True),
            text("carrier", 30, "Who carried it"),
            text("status", 12, "in_transit, delivered or lost"),
            money("shipping_cost", "What the carrier was paid, in euros"),
        ),
        refs=(
            _ORDER,
            ref("shipped_date_key", "dim_date", "date_key"),
            ref("delivered_date_key", "dim_date", "date_key"),
        ),
        unique=(("order_id",),),
        indexes=(("shipped_date_key",),),
        checks=(
            "delivered_at IS NULL OR delivered_at > shipped_at",
            "(status = 'delivered' AND delivered_at IS NOT NULL) OR (status <> 'delivered' AND delivered_at IS NULL)",
        ),
    ),
    _fact(
        "fact_returns",
        "Goods sent or brought back, with the refund",
        (
            whole("return_id", "Return number"),
            whole("sale_id", "The sales line returned, in whole or in part"),
            whole("date_key", "Day of the return"),
            whole("quantity", "Pieces returned"),
            money("refund_amount", "Paid back, in euros"),
            text("reason", 30, "Reason given; some give none", null=True),
        ),
        refs=(ref("sale_id", "fact_sales"), _DATE),
        unique=(("sale_id",),),
        indexes=(("date_key",),),
        checks=("quantity > 0", "refund_amount >= 0"),
    ),
    _fact(
        "fact_inventory",
        "Stock of each product in each store at the end of each month",
        (
            whole("inventory_id", "Row number"),
            whole("store_key", "Store"),
            whole("product_key", "Product"),
            whole("date_key", "Last day of the month"),
            whole("opening_quantity", "Pieces at the start of the month"),
            whole("received_quantity", "Pieces delivered to the store in the month"),
            whole("sold_quantity", "Pieces sold in the month; returned goods do not come back into stock"),
            whole("closing_quantity", "opening plus received less sold"),
        ),
        refs=(_STORE, _PRODUCT, _DATE),
        unique=(("store_key", "product_key", "date_key"),),
        indexes=(("date_key",), ("product_key",)),
        checks=(
            "closing_quantity >= 0",
            "closing_quantity = opening_quantity + received_quantity - sold_quantity",
        ),
    ),
    _fact(
        "fact_support_tickets",
        "Questions and complaints to customer support",
        (
            whole("ticket_id", "Ticket number"),
            whole("customer_key", "Version of the customer on that day"),
            whole("order_id", "The order it is about, if any", null=True),
            whole("employee_id", "Support agent; none until someone takes it", null=True),
            whole("date_key", "Day it was opened"),
            moment("opened_at", "When it was opened"),
            moment("first_response_at", "When it was first answered", null=True),
            moment("resolved_at", "When it was resolved", null=True),
            text("topic", 20, "delivery, product, payment, return or account"),
            text("priority", 10, "low, normal, high or urgent"),
            text("status", 10, "open, pending or resolved"),
            whole("satisfaction_score", "1 to 5, given after resolution by some", null=True),
        ),
        refs=(_CUSTOMER, _ORDER, ref("employee_id", "dim_employee"), _DATE),
        indexes=(("customer_key",), ("date_key",), ("order_id",), ("employee_id",)),
        checks=(
            "priority IN ('low', 'normal', 'high', 'urgent')",
            "first_response_at IS NULL OR first_response_at > opened_at",
            "resolved_at IS NULL OR resolved_at >= first_response_at",
            "satisfaction_score IS NULL OR (satisfaction_score BETWEEN 1 AND 5 AND resolved_at IS NOT NULL)",
        ),
    ),
    _fact(
        "fact_marketing_touches",
        "Messages and adverts that reached a customer",
        (
            whole("touch_id", "Touch number"),
            whole("customer_key", "Version of the customer on that day"),
            whole("promotion_key", "Promotion advertised, if any", null=True),
            whole("order_id", "Order placed within a week of a click on it, if any", null=True),
            whole("date_key", "Day of the touch"),
            moment("touched_at", "When it reached the customer"),
            text("channel", 20, "email, sms, search_ad, social_ad or direct_mail"),
            flag("was_clicked", "The customer clicked, or redeemed the letter's code"),
            money("cost", "What it cost, in euros"),
        ),
        refs=(_CUSTOMER, _PROMOTION, _ORDER, _DATE),
        indexes=(("customer_key",), ("date_key",), ("promotion_key",), ("order_id",)),
        checks=(
            "channel IN ('email', 'sms', 'search_ad', 'social_ad', 'direct_mail')",
            "order_id IS NULL OR was_clicked",
            "cost >= 0",
        ),
    ),
    _fact(
        "fact_web_events",
        "What visitors did in the online stores, step by step",
        (
            whole("event_id", "Event number, in order of time"),
            whole("session_id", "The visit"),
            whole("customer_key", "Version of the customer; none for visitors not signed in", null=True),
            whole("product_key", "Product seen or put into the cart; none at checkout and purchase", null=True),
            whole("order_id", "Order that the purchase made; none for other events", null=True),
            whole("date_key", "Day of the event"),
            moment("occurred_at", "When it happened"),
            text("event_type", 10, "view, cart, checkout or purchase"),
            text("device", 10, "mobile, desktop or tablet"),
        ),
        refs=(_CUSTOMER, _PRODUCT, _ORDER, _DATE),
        indexes=(("session_id",), ("date_key",), ("customer_key",), ("order_id",)),
        checks=(
            "event_type IN ('view', 'cart', 'checkout', 'purchase')",
            "(event_type = 'purchase' AND order_id IS NOT NULL) OR (event_type <> 'purchase' AND order_id IS NULL)",
        ),
    ),
    _fact(
        "fact_customer_engagement",
        "Each customer version's activity by month, counted from web events, touches and tickets",
        (
            whole("engagement_id", "Row number"),
            whole("customer_key", "Version of the customer"),
            whole("date_key", "First day of the month"),
            whole("web_sessions", "Visits to the online store"),
            whole("page_views", "Product views"),
            whole("purchases", "Purchases online"),
            whole("marketing_touches", "Messages and adverts received"),
            whole("marketing_clicks", "Touches clicked"),
            whole("support_tickets", "Tickets opened"),
            whole("engagement_score", "web_sessions + 2 times marketing_clicks + 5 times purchases"),
        ),
        refs=(_CUSTOMER, _DATE),
        unique=(("customer_key", "date_key"),),
        indexes=(("date_key",),),
        checks=("engagement_score = web_sessions + 2 * marketing_clicks + 5 * purchases",),
    ),
)

STAGING = define(
    "stg_order_feed",
    "Raw rows of the order feed as they came, not cleaned: duplicates, unknown references, odd formats, late rows",
    (
        whole("feed_row_id", "Row number"),
        text("source_file", 40, "File the row came in"),
        moment("loaded_at", "When it was loaded; late rows come days after the order"),
        text("tenant_code", 10, "Brand as sent", null=True),
        text("order_ref", 20, "Order number as sent", null=True),
        text("customer_ref", 20, "Customer id as sent", null=True),
        text("order_date_text", 20, "Day of the order as sent, in several formats", null=True),
        text("amount_text", 20, "Amount as sent", null=True),
        text("status_text", 20, "Status as sent", null=True),
        day("processed_on", "Day it was taken into the warehouse; missing if it was not", null=True),
    ),
    key=("feed_row_id",),
    indexes=(("order_ref",),),
)
