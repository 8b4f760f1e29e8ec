import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type DashboardWidget,
  DashboardWidgetSchema,
  type WidgetDataSource,
  WidgetTabMode,
  WidgetTabView,
} from "../../../gen/signpost/v1/analytics_dashboard_pb.js";

type Init = Exclude<MessageInitShape<typeof DashboardWidgetSchema>, DashboardWidget>;

type DataSource = Exclude<NonNullable<Init["dataSource"]>, WidgetDataSource>;

/** A widget without its place. */
interface Draft extends Omit<Init, "position" | "size"> {
  readonly size: { readonly w: number; readonly h: number };
}

const full = { w: 8, h: 3 };
const half = { w: 4, h: 3 };
const quarter = { w: 2, h: 2 };

/** A question about the dates that the reader chooses. */
function asked(endpoint: string, responseDataPath: string, params: DataSource["params"] = {}): DataSource {
  const method = endpoint.startsWith("/v1/metrics/") ? "GET" : "POST";
  return { endpoint, method, responseDataPath, params, usesDateRange: true };
}

function mapped(roles: Readonly<Record<string, readonly [field: string, label: string]>>) {
  return Object.entries(roles).map(([chartRole, [sourceField, displayLabel]]) => ({
    chartRole,
    sourceField,
    displayLabel,
  }));
}

const overview: readonly Draft[] = [
  number("total-visits", "Visits", "totalEvents"),
  number("countries-reached", "Countries", "totalCountries"),
  number("cities-reached", "Cities", "totalCities"),
  number("average-lead-score", "Average lead score", "averageLeadScore"),
];

function number(id: string, title: string, field: string): Draft {
  return {
    ...{ id, title, size: quarter },
    dataSource: asked("/v1/metrics/events", ""),
    visualization: { chartType: "number", fieldMappings: mapped({ value: [field, title] }) },
  };
}

const visits: Draft = {
  ...{ id: "visits", title: "Visits over time", size: full },
  dataSource: { ...asked("/v1/timeseries/events", "timeSeries.data"), usesInterval: true },
  visualization: {
    chartType: "area",
    fieldMappings: mapped({ timestamp: ["timestamp", "Time"], value: ["eventCount", "Visits"] }),
  },
};

const visitors: Draft = {
  ...{ id: "visitors", title: "New and returning visitors", size: full },
  dataSource: { ...asked("/v1/analytics/visitors", "data"), usesInterval: true },
  visualization: {
    chartType: "stacked_area",
    fieldMappings: mapped({
      timestamp: ["timestamp", "Time"],
      value: ["newVisitorCount", "New"],
      value2: ["returningVisitorCount", "Returning"],
    }),
  },
};

const breakdownRoles = mapped({ label: ["label", "Name"], value: ["eventCount", "Visits"] });

const countries: Draft = {
  ...{ id: "countries", title: "Countries", size: half },
  dataSource: asked("/v1/analytics/breakdown", "data", { dimension: "country" }),
  visualization: {
    chartType: "horizontal_bar",
    fieldMappings: [...breakdownRoles, ...mapped({ category: ["code", "Code"] })],
    tabs: [
      { label: "Chart", mode: WidgetTabMode.DATA, view: WidgetTabView.CHART },
      { label: "Map", mode: WidgetTabMode.DATA, view: WidgetTabView.MAP, params: { limit: 100 } },
      { label: "Cities", mode: WidgetTabMode.DATA, view: WidgetTabView.CHART, params: { dimension: "city" } },
    ],
  },
};

const devices: Draft = {
  ...{ id: "devices", title: "Devices", size: half },
  dataSource: asked("/v1/analytics/breakdown", "data", { dimension: "device_type" }),
  visualization: { chartType: "pie", fieldMappings: breakdownRoles },
};

const hours: Draft = {
  ...{ id: "hours", title: "Hours of the day", size: half },
  dataSource: asked("/v1/analytics/hours", "data"),
  visualization: {
    chartType: "bar",
    fieldMappings: mapped({ label: ["hour", "Hour"], value: ["eventCount", "Visits"] }),
  },
};

const systems: Draft = {
  ...{ id: "systems", title: "Systems and browsers", size: half },
  dataSource: asked("/v1/analytics/breakdown", "data", { dimension: "platform" }),
  visualization: {
    chartType: "horizontal_bar",
    fieldMappings: breakdownRoles,
    tabs: [
      { label: "Systems", mode: WidgetTabMode.DATA, view: WidgetTabView.CHART },
      {
        label: "Browsers",
        mode: WidgetTabMode.DATA,
        view: WidgetTabView.CHART,
        params: { dimension: "browser" },
      },
    ],
  },
};

const topLinks: Draft = {
  ...{ id: "top-links", title: "Top links", size: half },
  dataSource: asked("/v1/analytics/top-links", "data"),
  visualization: {
    chartType: "horizontal_bar",
    fieldMappings: mapped({
      label: ["name", "Link"],
      value: ["eventCount", "Visits"],
      category: ["shortlink", "Short link"],
    }),
  },
};

const funnel: Draft = {
  ...{ id: "funnel", title: "Steps of the workflow", size: half },
  dataSource: asked("/v1/analytics/funnel", "steps"),
  visualization: {
    chartType: "funnel",
    fieldMappings: mapped({
      label: ["stepAction", "Step"],
      value: ["visits", "Visits"],
      value2: ["conversionRate", "Share of all visits"],
    }),
  },
};

const ofWorkspace = [...overview, visits, visitors, topLinks, countries, devices, hours, systems];
const ofLink = [...overview, visits, visitors, funnel, countries, devices, hours, systems];

/** The widgets of a dashboard that begins with some: those of the workspace, or of the link. */
export function starterWidgets(linkId: string | null): DashboardWidget[] {
  const place = placer();
  return (linkId === null ? ofWorkspace : ofLink).map((draft) => {
    const widget = create(DashboardWidgetSchema, { ...draft, position: place(draft.size) });
    if (linkId !== null && widget.dataSource !== undefined)
      widget.dataSource.params = { ...widget.dataSource.params, linkId };
    return widget;
  });
}

/** Places widgets of one height in a row from left to right, in a grid of eight columns. */
function placer() {
  let [x, y, height] = [0, 0, 0];
  return ({ w, h }: Draft["size"]) => {
    if (x + w > full.w) [x, y, height] = [0, y + height, 0];
    const position = { x, y };
    [x, height] = [x + w, Math.max(height, h)];
    return position;
  };
}
