// Declared fields: one row gives JSON, its kind in the schema and in other languages, and a column.
#include <map>

#include "sim/report/fields/csv_table.hpp"
#include "sim/report/fields/output_field.hpp"
#include "tests/support/catch.hpp"

namespace foretrain {

namespace output_fields_test {

struct Wheel {
  double width_s = 1.5;
};
struct Cart {
  std::string name = "a, b";
  int count = 2;
  std::optional<double> speed{};
  std::vector<Wheel> wheels{{1.5}, {2}};
  bool is_loaded = true;
  std::optional<std::string> note{};
};

}  // namespace output_fields_test

using output_fields_test::Cart;
using output_fields_test::Wheel;

template <>
const OutputObject<Wheel>& output_object<Wheel>() {
  static const OutputObject<Wheel> object{"Wheel", "One wheel", {{"width_s", "its width", &Wheel::width_s}}};
  return object;
}

template <>
const OutputObject<Cart>& output_object<Cart>() {
  static const OutputObject<Cart> object{
      "Cart",
      "A cart",
      {{"name", "its name", &Cart::name},
       {"count", "of wheels", &Cart::count},
       {"speed", "null: it stands", &Cart::speed},
       {"wheels", "left to right", &Cart::wheels},
       {"loaded", "whether it is", &Cart::is_loaded},
       {"kind", "of cart", [](const Cart&) { return std::string_view("hand"); }, OneOf{{"hand", "ox"}}},
       {"note", "where there is one", &Cart::note, WhenUnknown::is_absent}}};
  return object;
}

namespace output_fields_test {

TEST_CASE("a declared field is null or absent without a value as its row says") {
  Cart cart;
  CHECK(
      declared_json(cart).dump() ==
      R"({"name":"a, b","count":2,"speed":null,"wheels":[{"width_s":1.5},{"width_s":2.0}],"loaded":true,"kind":"hand"})");
  cart.speed = 3, cart.note = "new";
  CHECK(declared_json(cart)["speed"] == 3.0);
  CHECK(declared_json(cart)["note"] == "new");
}

TEST_CASE("a declared field's kind in the schema follows from its getter") {
  const DeclaredReport report{"cart", "show", "A cart", declared_shape<Cart>};
  const Json schema = Json::parse(schema_text(report));
  CHECK(schema["required"] == Json::parse(R"(["name","count","speed","wheels","loaded","kind"])"));
  CHECK(schema["properties"]["speed"]["type"] == Json::parse(R"(["number","null"])"));
  CHECK(schema["properties"]["kind"]["enum"] == Json::parse(R"(["hand","ox"])"));
  CHECK(schema["properties"]["note"]["type"] == "string");
  const Json& wheel = schema["properties"]["wheels"]["items"]["properties"]["width_s"];
  CHECK(wheel["description"] == "its width; in seconds");
}

TEST_CASE("a CSV column takes its field from the row or from the objects around it") {
  const std::vector<CsvColumn> columns{{"cart", "../name"},
                                       {"place", "#"},
                                       {"width_s"},
                                       {"speed", "../speed"},
                                       {"loaded", "../loaded", CsvFlags::as_digits}};
  CHECK(csv_table(columns, declared_json(Cart{}), "wheels") ==
        "cart,place,width_s,speed,loaded\n\"a, b\",1,1.5,,1\n\"a, b\",2,2,,1\n");
}

TEST_CASE("every declared field has a meaning and every type one set of fields") {
  std::map<std::string, std::string> printed;
  int fields = 0;
  for (const DeclaredReport& report : declared_reports())
    for (const OutputShape& object : objects_in(report.shape())) {
      INFO(report.name << ": " << object.name);
      CHECK(object.meaning.size() > 5);
      std::string names;
      for (const ShapeField& field : object.fields) {
        INFO(field.name);
        CHECK(field.meaning.size() > 2);
        names += field.name + (field.is_always_there ? " " : "? ");
        ++fields;
      }
      const auto [place, is_new] = printed.try_emplace(object.name, names);
      CHECK(place->second == names);
    }
  CHECK(fields > 300);
}

}  // namespace output_fields_test

}  // namespace foretrain
