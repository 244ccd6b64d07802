Rage.routes.draw do
  root to: ->(env) { [200, {}, ["A bookshop"]] }

  post "/signup", to: "users#create"
  patch "/users/:id/avatar", to: "users#avatar"

  post "/orders", to: "orders#create"
  post "/orders/:id/pay", to: "orders#pay"

  post "/admin/catalog", to: "catalogs#import"
end
