class OrdersController < ApplicationController
  def create
    invoice = Invoice.create(customer: params[:customer], lines: params[:lines])
    SyncInvoice.enqueue(invoice.id)

    render json: { invoice: invoice.id }, status: :created
  end

  def pay
    invoice = Invoice.find(params[:id])
    Billing::ChargeCard.enqueue(invoice.total, token: params[:card_token], invoice_id: invoice.id)

    head :accepted
  end
end
